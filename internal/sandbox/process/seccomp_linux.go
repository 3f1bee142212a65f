//go:build amd64 || arm64

package process

import (
	"encoding/binary"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The system calls that programs in a sandbox may make. The file system, the namespaces and
// the missing capabilities already refuse most of what would reach beyond the sandbox. The
// filter refuses calls that bypass these, and the parts of the kernel in which the next
// vulnerability is most likely. docs/sandbox.md documents this for users.

// refusal is the error with which a system call is refused.
type refusal uint16

const (
	// forbidden refuses calls with an error that programs report.
	forbidden = refusal(unix.EPERM)
	// missing refuses calls that programs replace with an older one, as on a kernel without
	// them.
	missing = refusal(unix.ENOSYS)
	// noFamily refuses sockets.
	noFamily = refusal(unix.EAFNOSUPPORT)
)

// latestCall is the newest system call that has been reviewed. Newer ones are missing.
const latestCall = unix.SYS_RSEQ_SLICE_YIELD

// refusedCalls are refused regardless of their arguments.
var refusedCalls = map[refusal][]uint32{
	missing: {
		// They do I/O through a queue in the kernel, which no filter sees.
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		// Its flags are in memory, which no filter sees; libraries fall back to clone.
		unix.SYS_CLONE3,
	},
	forbidden: append([]uint32{
		// Other processes: their memory, files and registers.
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
		// Keys of the user, which no namespace separates.
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		// Programs in the kernel, performance counters, and user-handled page faults.
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
		// Namespaces and mounts. In its own user namespace, a program has all capabilities.
		unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOUNT_SETATTR,
		unix.SYS_OPEN_TREE,
		unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
		// Files by handle, and notifications about other users' files.
		unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_LOOKUP_DCOOKIE,
		unix.SYS_NFSSERVCTL,
		// The machine.
		unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	}, refusedHere...),
}

// newNamespaces are the flags of clone and unshare that create namespaces. CLONE_NEWTIME is
// not among them because it is only valid for unshare: clone uses those bits for the exit
// signal.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// argumentRule refuses a system call by one of its arguments, of which the kernel reads the
// lower 32 bits.
type argumentRule struct {
	call     uint32
	argument uint32
	// If bits is set, any of them refuses the call. Otherwise values are refused or, if
	// only is set, all other values.
	bits   uint32
	only   bool
	values []uint32
	how    refusal
}

var argumentRules = []argumentRule{
	{call: unix.SYS_CLONE, argument: 0, bits: newNamespaces, how: forbidden},
	{call: unix.SYS_UNSHARE, argument: 0, bits: newNamespaces | unix.CLONE_NEWTIME, how: forbidden},
	// Input injected into a terminal as if it were typed, and the selection of line
	// disciplines.
	{call: unix.SYS_IOCTL, argument: 1, values: []uint32{unix.TIOCSTI, tiocLinux, unix.TIOCSETD}, how: forbidden},
	// Virtual machines do not know namespaces (AF_VSOCK), and each other family is rarely used
	// kernel code.
	{call: unix.SYS_SOCKET, argument: 0, only: true, values: socketFamilies, how: noFamily},
	{call: unix.SYS_SOCKETPAIR, argument: 0, only: true, values: socketFamilies, how: noFamily},
	// Other personalities disable protections. Allowed are Linux, 32-bit Linux, both with
	// uname's version, without address randomization (sanitizers), and queries.
	{
		call: unix.SYS_PERSONALITY, argument: 0, only: true, values: []uint32{0, 0x8, 0x20000, 0x20008, 0x40000, 0xffffffff},
		how: forbidden,
	},
}

var socketFamilies = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// tiocLinux is TIOCLINUX, which pastes on consoles.
const tiocLinux = 0x541c

// The offsets of struct seccomp_data, on little-endian machines.
const (
	callOffset     = 0
	archOffset     = 4
	argumentOffset = 16
)

// systemCallFilter returns the filter in the format that bubblewrap reads.
func systemCallFilter() []byte {
	raw, err := bpf.Assemble(filterProgram())
	if err != nil {
		panic("process: " + err.Error()) // the program is a constant
	}
	var text []byte
	for _, one := range raw {
		text = binary.NativeEndian.AppendUint16(text, one.Op)
		text = append(text, one.Jt, one.Jf)
		text = binary.NativeEndian.AppendUint32(text, one.K)
	}
	return text
}

func filterProgram() []bpf.Instruction {
	load := func(offset uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offset, Size: 4} }
	refuse := func(how refusal) bpf.Instruction {
		return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(how)}
	}
	unless := func(cond bpf.JumpTest, value uint32, skip int) bpf.Instruction {
		return bpf.JumpIf{Cond: cond, Val: value, SkipTrue: uint8(skip)} //nolint:gosec // few instructions
	}
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	// Numbers have another meaning on another machine. Those beyond the latest include
	// amd64's x32, which sets an extra bit in its numbers.
	program := []bpf.Instruction{
		load(archOffset), unless(bpf.JumpEqual, machine, 1), refuse(missing),
		load(callOffset), unless(bpf.JumpLessOrEqual, latestCall, 1), refuse(missing),
	}
	for _, how := range []refusal{missing, forbidden} {
		for _, call := range refusedCalls[how] {
			program = append(program, unless(bpf.JumpNotEqual, call, 1), refuse(how))
		}
	}
	for _, rule := range argumentRules {
		check := []bpf.Instruction{load(argumentOffset + 8*rule.argument)}
		switch {
		case rule.bits != 0:
			check = append(check, unless(bpf.JumpBitsNotSet, rule.bits, 1), refuse(rule.how))
		case rule.only:
			for i, value := range rule.values {
				check = append(check, unless(bpf.JumpEqual, value, len(rule.values)-i))
			}
			check = append(check, refuse(rule.how))
		default:
			for _, value := range rule.values {
				check = append(check, unless(bpf.JumpNotEqual, value, 1), refuse(rule.how))
			}
		}
		check = append(check, allow)
		program = append(program, unless(bpf.JumpNotEqual, rule.call, len(check)))
		program = append(program, check...)
	}
	return append(program, allow)
}
