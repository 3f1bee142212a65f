package process

import "golang.org/x/sys/unix"

// machine is this architecture in struct seccomp_data.
const machine = unix.AUDIT_ARCH_AARCH64

// refusedHere are refused calls that only this architecture has.
var refusedHere []uint32
