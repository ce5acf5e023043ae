"""The numbers of the system calls that confinement speaks of, for each processor's way of calling the kernel.

A process may call in the way of its own processor and, on most, in that of the 32-bit one before it (`int 0x80`): so a
machine has two columns. Calls that are judged by their arguments stand first; then what is refused, by the reason. The
kernel's headers are the source (tests/unit/test_confine.py compares).
"""

from __future__ import annotations

import platform

from msgspec import Struct

_TABLE = """
[judged]
execve 59 11 221 11
execveat 322 358 281 387
fork 57 2 - 2
vfork 58 190 - 190
clone 56 120 220 120
kill 62 37 129 37
tgkill 234 270 131 268
rt_sigqueueinfo 129 178 138 178
prlimit64 302 340 261 369
socket 41 359 198 281
socketcall - 102 - -
socketpair 53 360 199 288
open 2 5 - 5
openat 257 295 56 322
ioctl 16 54 29 54
fcntl 72 55 25 55
fcntl64 - 221 - 221
personality 135 136 92 136
flock 73 143 32 143
prctl 157 172 167 172
[others]
tkill 200 238 130 238
rt_tgsigqueueinfo 297 335 240 363
pidfd_open 434 434 434 434
pidfd_send_signal 424 424 424 424
pidfd_getfd 438 438 438 438
ptrace 101 26 117 26
process_vm_readv 310 347 270 376
process_vm_writev 311 348 271 377
process_madvise 440 440 440 440
process_mrelease 448 448 448 448
kcmp 312 349 272 378
setpriority 141 97 140 97
ioprio_set 251 289 30 314
nice - 34 - 34
sched_setaffinity 203 241 122 241
sched_setscheduler 144 156 119 156
sched_setparam 142 154 118 154
sched_setattr 314 351 274 380
migrate_pages 256 294 238 400
move_pages 279 317 239 344
[files]
unlink 87 10 - 10
unlinkat 263 301 35 328
rename 82 38 - 38
renameat 264 302 38 329
renameat2 316 353 276 382
link 86 9 - 9
linkat 265 303 37 330
symlink 88 83 - 83
symlinkat 266 304 36 331
mkdir 83 39 - 39
mkdirat 258 296 34 323
rmdir 84 40 - 40
mknod 133 14 - 14
mknodat 259 297 33 324
truncate 76 92 45 92
truncate64 - 193 - 193
creat 85 8 - 8
open_by_handle_at 304 342 265 371
[attributes]
chmod 90 15 - 15
fchmod 91 94 52 94
fchmodat 268 306 53 333
chown 92 182 - 182
fchown 93 95 55 95
lchown 94 16 - 16
fchownat 260 298 54 325
chown32 - 212 - 212
fchown32 - 207 - 207
lchown32 - 198 - 198
utime 132 30 - -
utimes 235 271 - 269
utimensat 280 320 88 348
utimensat_time64 - 412 412 412
futimesat 261 299 - 326
setxattr 188 226 5 226
lsetxattr 189 227 6 227
fsetxattr 190 228 7 228
removexattr 197 235 14 235
lremovexattr 198 236 15 236
fremovexattr 199 237 16 237
[identity]
setuid 105 23 146 23
setuid32 - 213 - 213
setgid 106 46 144 46
setgid32 - 214 - 214
setreuid 113 70 145 70
setreuid32 - 203 - 203
setregid 114 71 143 71
setregid32 - 204 - 204
setresuid 117 164 147 164
setresuid32 - 208 - 208
setresgid 119 170 149 170
setresgid32 - 210 - 210
setfsuid 122 138 151 138
setfsuid32 - 215 - 215
setfsgid 123 139 152 139
setfsgid32 - 216 - 216
setgroups 116 81 159 81
setgroups32 - 206 - 206
capset 126 185 91 185
[kept]
shmget 29 395 194 307
msgget 68 399 186 303
semget 64 393 190 299
ipc - 117 - -
mq_open 240 277 180 274
mq_unlink 241 278 181 275
[machine]
mount 165 21 40 21
umount - 22 - -
umount2 166 52 39 52
pivot_root 155 217 41 218
chroot 161 61 51 61
move_mount 429 429 429 429
open_tree 428 428 428 428
fsopen 430 430 430 430
fsconfig 431 431 431 431
fsmount 432 432 432 432
fspick 433 433 433 433
mount_setattr 442 442 442 442
unshare 272 310 97 337
setns 308 346 268 375
swapon 167 87 224 87
swapoff 168 115 225 115
acct 163 51 89 51
quotactl 179 131 60 131
quotactl_fd 443 443 443 443
fanotify_init 300 338 262 367
reboot 169 88 142 88
kexec_load 246 283 104 347
kexec_file_load 320 - 294 401
init_module 175 128 105 128
finit_module 313 350 273 379
delete_module 176 129 106 129
create_module 174 127 - -
bpf 321 357 280 386
perf_event_open 298 336 241 364
userfaultfd 323 374 282 388
io_uring_setup 425 425 425 425
io_uring_enter 426 426 426 426
io_uring_register 427 427 427 427
settimeofday 164 79 170 79
clock_settime 227 264 112 262
clock_settime64 - 404 404 404
clock_adjtime 305 343 266 372
clock_adjtime64 - 405 405 405
adjtimex 159 124 171 124
stime - 25 - -
sethostname 170 74 161 74
setdomainname 171 121 162 121
syslog 103 103 116 103
vhangup 153 111 58 111
iopl 172 110 - -
ioperm 173 101 - -
modify_ldt 154 123 - -
vm86 - 166 - -
vm86old - 113 - -
keyctl 250 288 219 311
add_key 248 286 217 309
request_key 249 287 218 310
lookup_dcookie 212 253 18 249
nfsservctl 180 169 42 169
uselib 134 86 - 86
_sysctl 156 149 - 149
bdflush - 134 - 134
memfd_secret 447 447 447 -
[absent]
clone3 435 435 435 435
openat2 437 437 437 437
"""


class Calls(Struct, frozen=True):
    """One way of calling the kernel. `audit`: its name for it; `most`: the highest number that this table has seen:
    what comes later is unknown, and is refused as if the kernel did not have it."""

    audit: int
    most: int
    numbers: dict[str, int]


def group(name: str) -> tuple[str, ...]:
    """The calls below that headline of the table."""
    found, here = list[str](), ""
    for line in _TABLE.strip().splitlines():
        if line.startswith("["):
            here = line.strip("[]")
        elif here == name:
            found.append(line.split()[0])
    return tuple(found)


# Column, AUDIT_ARCH_…, and the highest number of Linux 6.1.
_X86_64 = (1, 0xC000003E, 450)
_I386 = (2, 0x40000003, 450)
_AARCH64 = (3, 0xC00000B7, 450)
_ARM = (4, 0x40000028, 450)
_MACHINES = {"x86_64": (_X86_64, _I386), "aarch64": (_AARCH64, _ARM)}


def of_this_machine() -> tuple[Calls, ...]:
    """Nothing if nobody has written down the numbers of this processor's calls."""
    return tuple(_calls(*way) for way in _MACHINES.get(platform.machine(), ()))


def _calls(column: int, audit: int, most: int) -> Calls:
    rows = (line.split() for line in _TABLE.strip().splitlines() if not line.startswith("["))
    return Calls(audit, most, {row[0]: int(row[column]) for row in rows if row[column] != "-"})
