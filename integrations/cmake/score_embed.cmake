# Campaigns of score-embed as tests of CTest. Copy this file into your project, and
#
#   include(cmake/score_embed.cmake)
#   score_embed_add_test(NAME frame TARGET frame SOURCES tests/explore_frame.c BOARD native mps2-an385 TIME 30s)
#
#   NAME     of the test; with several boards NAME-BOARD
#   TARGET   libraries or executables of this project whose C sources are explored. Their include directories,
#            definitions and C standard are taken, also those that they have from what they link to. The target is built
#            before, so that files which the build makes are there. Name it after its last target_sources().
#   SOURCES  further C files (a harness), objects and archives; relative to the current source directory
#   ENTRY    explore this function: no harness is needed
#   BOARD    one or more; `native` if absent
#   TIME     90, 60s, 5m, 2h; 60s if absent
#   OPTIONS  further words of `score-embed run`
#   LABELS   beside `score-embed` and the board's name
#
# A test fails if there is a bug (or if tests were lost, or nothing could be run). Its results are in
# score-embed/TEST of the build directory: report.html, and all that `score-embed report` and `replay` read. They are
# replaced when the test runs again. It runs in the project's source directory, where a score-embed.yaml counts.
cmake_minimum_required(VERSION 3.18)

if(CMAKE_SCRIPT_MODE_FILE) # as a test: cmake -DSCORE_EMBED_OUT=… -P score_embed.cmake -- WORDS…
    set(WORDS)
    set(IS_WORD FALSE)
    math(EXPR LAST "${CMAKE_ARGC} - 1")
    foreach(AT RANGE ${LAST})
        if(IS_WORD)
            string(REPLACE ";" "\\;" WORD "${CMAKE_ARGV${AT}}")
            list(APPEND WORDS "${WORD}")
        elseif(CMAKE_ARGV${AT} STREQUAL "--")
            set(IS_WORD TRUE)
        endif()
    endforeach()
    if(EXISTS "${SCORE_EMBED_OUT}/campaign.db") # of the last time
        file(REMOVE_RECURSE "${SCORE_EMBED_OUT}")
    endif()
    execute_process(COMMAND ${WORDS} RESULT_VARIABLE CODE)
    if(NOT CODE EQUAL 0)
        message(FATAL_ERROR "score-embed ended with ${CODE} (1: bugs). Results: ${SCORE_EMBED_OUT}")
    endif()
    return()
endif()

set(SCORE_EMBED_MODULE "${CMAKE_CURRENT_LIST_FILE}" CACHE INTERNAL "this file")
find_program(SCORE_EMBED_PROGRAM score-embed DOC "the command score-embed")

function(score_embed_add_test)
    cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;ENTRY;TIME" "TARGET;SOURCES;BOARD;OPTIONS;LABELS")
    if(ARG_UNPARSED_ARGUMENTS OR ARG_KEYWORDS_MISSING_VALUES)
        message(FATAL_ERROR "score_embed_add_test: not understood: ${ARG_UNPARSED_ARGUMENTS} ${ARG_KEYWORDS_MISSING_VALUES}")
    endif()
    if(NOT ARG_NAME OR NOT (ARG_TARGET OR ARG_SOURCES))
        message(FATAL_ERROR "score_embed_add_test: say NAME, and TARGET or SOURCES")
    endif()
    if(NOT SCORE_EMBED_PROGRAM)
        message(FATAL_ERROR "score-embed was not found: put it on PATH, or say -DSCORE_EMBED_PROGRAM=/path/to/score-embed")
    endif()
    if(NOT ARG_TIME)
        set(ARG_TIME 60s)
    endif()
    _score_embed_seconds("${ARG_TIME}" SECONDS)
    math(EXPR DEADLINE "${SECONDS} + 600") # what is built, and how a target ends
    if(NOT ARG_BOARD)
        set(ARG_BOARD native)
    endif()

    set(FILES)
    foreach(SOURCE IN LISTS ARG_SOURCES)
        if(NOT SOURCE MATCHES "\\.[A-Za-z]+$")
            message(FATAL_ERROR "score_embed_add_test: ${SOURCE} is no file: is it a keyword with a typing error?")
        endif()
        get_filename_component(SOURCE "${SOURCE}" ABSOLUTE)
        list(APPEND FILES "${SOURCE}")
    endforeach()
    set(FLAGS)
    set(FIXTURES)
    foreach(TARGET IN LISTS ARG_TARGET)
        _score_embed_sources(${TARGET} OWN)
        list(APPEND FILES ${OWN})
        set(PLACES "$<TARGET_PROPERTY:${TARGET},INCLUDE_DIRECTORIES>")
        set(WORDS "$<TARGET_PROPERTY:${TARGET},COMPILE_DEFINITIONS>")
        set(C "$<TARGET_PROPERTY:${TARGET},C_STANDARD>")
        list(APPEND FLAGS "$<$<BOOL:${PLACES}>:-I$<JOIN:${PLACES},$<SEMICOLON>-I>>" "$<$<BOOL:${WORDS}>:-D$<JOIN:${WORDS},$<SEMICOLON>-D>>"
             "$<$<BOOL:${C}>:-std=gnu${C}>")
        _score_embed_build_first(${TARGET})
        list(APPEND FIXTURES "score-embed-build-${TARGET}")
    endforeach()
    list(REMOVE_DUPLICATES FILES)
    if(ARG_ENTRY)
        list(APPEND ARG_OPTIONS "--entry=${ARG_ENTRY}")
    endif()

    list(LENGTH ARG_BOARD BOARDS)
    foreach(BOARD IN LISTS ARG_BOARD)
        set(TEST "${ARG_NAME}")
        get_filename_component(SHORT "${BOARD}" NAME_WE)
        if(BOARDS GREATER 1)
            string(APPEND TEST "-${SHORT}")
        endif()
        set(LABELS score-embed "${SHORT}" ${ARG_LABELS})
        set(OUT "${CMAKE_BINARY_DIR}/score-embed/${TEST}")
        add_test(NAME "${TEST}"
                 COMMAND "${CMAKE_COMMAND}" "-DSCORE_EMBED_OUT=${OUT}" -P "${SCORE_EMBED_MODULE}" --
                         "${SCORE_EMBED_PROGRAM}" run "--board=${BOARD}" "--time=${ARG_TIME}" "--out=${OUT}" ${ARG_OPTIONS}
                         ${FILES} -- ${FLAGS}
                 WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
                 COMMAND_EXPAND_LISTS)
        set_tests_properties("${TEST}" PROPERTIES TIMEOUT ${DEADLINE} FIXTURES_REQUIRED "${FIXTURES}"
                             LABELS "${LABELS}")
    endforeach()
endfunction()

# The C files of a target, absolute.
function(_score_embed_sources TARGET RESULT)
    if(NOT TARGET ${TARGET})
        message(FATAL_ERROR "score_embed_add_test: there is no target ${TARGET}")
    endif()
    get_target_property(PLACE ${TARGET} SOURCE_DIR)
    get_target_property(PLACE_OF_MADE ${TARGET} BINARY_DIR)
    get_target_property(SOURCES ${TARGET} SOURCES)
    set(FOUND)
    foreach(SOURCE IN LISTS SOURCES)
        if(SOURCE MATCHES "\\$<")
            message(FATAL_ERROR "score_embed_add_test: ${SOURCE} of ${TARGET} is known only later: name it under SOURCES")
        elseif(SOURCE MATCHES "\\.c$")
            get_filename_component(HERE "${SOURCE}" ABSOLUTE BASE_DIR "${PLACE}")
            if(NOT EXISTS "${HERE}") # the build makes it
                get_filename_component(HERE "${SOURCE}" ABSOLUTE BASE_DIR "${PLACE_OF_MADE}")
            endif()
            list(APPEND FOUND "${HERE}")
        endif()
    endforeach()
    set(${RESULT} "${FOUND}" PARENT_SCOPE)
endfunction()

# A test that builds the target, which the campaigns wait for. One at a time: build tools lock nothing.
function(_score_embed_build_first TARGET)
    set(TEST "score-embed-build-${TARGET}")
    if(NOT TEST "${TEST}")
        add_test(NAME "${TEST}"
                 COMMAND "${CMAKE_COMMAND}" --build "${CMAKE_BINARY_DIR}" --config "$<CONFIG>" --target ${TARGET})
        set_tests_properties("${TEST}" PROPERTIES FIXTURES_SETUP "${TEST}" RESOURCE_LOCK score-embed-build
                             LABELS score-embed)
    endif()
endfunction()

function(_score_embed_seconds WORD RESULT)
    if(NOT WORD MATCHES "^([0-9]+)(\\.[0-9]+)?([smh]?)$")
        message(FATAL_ERROR "score_embed_add_test: TIME is 90, 60s, 5m or 2h, not ${WORD}")
    endif()
    set(SECONDS ${CMAKE_MATCH_1})
    if(CMAKE_MATCH_3 STREQUAL "m")
        math(EXPR SECONDS "(${SECONDS} + 1) * 60")
    elseif(CMAKE_MATCH_3 STREQUAL "h")
        math(EXPR SECONDS "(${SECONDS} + 1) * 3600")
    endif()
    set(${RESULT} ${SECONDS} PARENT_SCOPE)
endfunction()
