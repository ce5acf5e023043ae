"""SARIF 2.1.0, as far as we write it: its objects under its own names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from score_embed.contract.words import Stop
from score_embed.results.summary import BranchTotals
from score_embed.results.testcase import Value


class _Object(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What is None, or a text that is empty by default, is left out."""


class Message(_Object, frozen=True):
    text: str


class Level(_Object, frozen=True):
    level: str


class Rule(_Object, frozen=True):
    id: str
    name: str
    short_description: Message
    full_description: Message
    help: Message
    default_configuration: Level


class Driver(_Object, frozen=True):
    name: str
    version: str
    rules: Sequence[Rule]


class Tool(_Object, frozen=True):
    driver: Driver


class Named(_Object, frozen=True):
    id: str


class Folder(_Object, frozen=True):
    uri: str


class Artifact(_Object, frozen=True):
    uri: str
    uri_base_id: str = ""


class Region(_Object, frozen=True):
    start_line: int
    snippet: Message | None = None


class Physical(_Object, frozen=True):
    artifact_location: Artifact
    region: Region | None = None


class Logical(_Object, frozen=True):
    name: str
    kind: str


class Location(_Object, frozen=True):
    logical_locations: Sequence[Logical] | None = None
    physical_location: Physical | None = None
    message: Message | None = None


class Frame(_Object, frozen=True):
    location: Location


class Stack(_Object, frozen=True):
    message: Message
    frames: Sequence[Frame]


class FlowStep(_Object, frozen=True):
    location: Location
    execution_order: int


class ThreadFlow(_Object, frozen=True):
    locations: Sequence[FlowStep]


class CodeFlow(_Object, frozen=True):
    thread_flows: Sequence[ThreadFlow]


class Suppression(_Object, frozen=True):
    kind: str
    status: str
    justification: str


class BugProperties(_Object, frozen=True):
    inputs: Mapping[str, Value]
    test: int
    confirmed: bool
    witness: str = ""


class Result(_Object, frozen=True, kw_only=True):
    rule_id: str
    rule_index: int
    level: str
    message: Message
    partial_fingerprints: Mapping[str, str]
    baseline_state: str = ""
    occurrence_count: int
    properties: BugProperties
    locations: Sequence[Location] | None = None
    stacks: Sequence[Stack] | None = None
    code_flows: Sequence[CodeFlow] | None = None
    suppressions: Sequence[Suppression] | None = None


class Notification(_Object, frozen=True):
    level: str
    message: Message
    locations: Sequence[Location] | None = None


class Invocation(_Object, frozen=True):
    execution_successful: bool
    start_time_utc: str
    working_directory: Folder
    tool_execution_notifications: Sequence[Notification]


class RunProperties(_Object, frozen=True):
    program: str
    board: str
    strategy: str
    seed: int
    stopped: Stop
    within: Sequence[str]
    runs: int
    paths: int
    coverage: BranchTotals


class Run(_Object, frozen=True):
    tool: Tool
    automation_details: Named
    original_uri_base_ids: Mapping[str, Folder]
    column_kind: str
    invocations: Sequence[Invocation]
    results: Sequence[Result]
    properties: RunProperties


class Log(_Object, frozen=True):
    schema: str = field(name="$schema")
    version: str
    runs: Sequence[Run]
