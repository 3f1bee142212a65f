package process

import "golang.org/x/sys/unix"

// machine is this architecture in struct seccomp_data.
const machine = unix.AUDIT_ARCH_X86_64

// refusedHere are refused calls that only this architecture has: access to its ports and
// segments, and remnants of earlier kernels.
var refusedHere = []uint32{
	unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL,
	unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE,
}
