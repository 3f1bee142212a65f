"""Knocks at the doors of the kernel, and prints as JSON which of them opened."""
import ctypes
import errno
import json
import mmap
import os
import platform
import signal
import socket
import stat
import threading

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
AMD64 = platform.machine() == "x86_64"


def call(number, *args):
    """Returns the name of the error, or "done"."""
    ctypes.set_errno(0)
    got = libc.syscall(ctypes.c_long(number), *[ctypes.c_ulong(a & (2**64 - 1)) for a in args])
    return "done" if got >= 0 else errno.errorcode.get(ctypes.get_errno(), "?")


def forking(number, *args):
    """Is call for what returns twice."""
    ctypes.set_errno(0)
    got = libc.syscall(ctypes.c_long(number), *[ctypes.c_ulong(a) for a in args])
    if got == 0:
        os._exit(0)
    if got > 0:
        os.waitpid(got, 0)
    return "done" if got >= 0 else errno.errorcode.get(ctypes.get_errno(), "?")


def in_child(do):
    """Runs do in a child process that leads a session, and returns its result, or the name of the signal that killed it."""
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            os.setsid()
            os.write(write, do().encode())
        finally:
            os._exit(0)
    os.close(write)
    _, status = os.wait()
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return os.read(read, 100).decode()


def terminal(request):
    """Asks a terminal of one's own for something."""

    def do():
        master, slave = os.openpty()
        libc.ioctl(slave, 0x540E, 0)  # TIOCSCTTY
        letter = ctypes.create_string_buffer(b"x")
        return call(16 if AMD64 else 29, slave, request, ctypes.addressof(letter))

    return in_child(do)


def family(number, kind=socket.SOCK_DGRAM):
    try:
        socket.socket(number, kind).close()
        return "done"
    except OSError as e:
        return errno.errorcode.get(e.errno, "?")


def foreign():
    """Asks by the calls of another machine: getpid of i386, which has no filter of its own."""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20; int 0x80; ret
    got = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
    return "done" if got > 0 else errno.errorcode.get(-got, "?")


# By name: the numbers of amd64 and of arm64; all arguments are 0.
PLAIN = {
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "clone3": (435, 435),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "mount_setattr": (442, 442),
    "open_tree": (428, 428), "open_tree_attr": (467, 467), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "open_by_handle_at": (304, 265), "fanotify_init": (300, 262), "quotactl": (179, 60),
    "reboot": (169, 142), "swapon": (167, 224), "acct": (163, 89), "syslog": (103, 116), "settimeofday": (164, 170), "a newer call": (500, 500),
}
NAMESPACES = {"mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000}


def calls():
    got = {name: call(numbers[0 if AMD64 else 1], 0, 0, 0, 0, 0, 0) for name, numbers in PLAIN.items()}
    for name, flag in NAMESPACES.items():
        got["unshare " + name] = in_child(lambda flag=flag: call(272 if AMD64 else 97, flag))
        got["unshare more and " + name] = in_child(lambda flag=flag: call(272 if AMD64 else 97, flag | 1 << 40 | 0x400))
        got["clone " + name] = forking(56 if AMD64 else 220, flag | signal.SIGCHLD, 0, 0, 0, 0)
    got["unshare time"] = in_child(lambda: call(272 if AMD64 else 97, 0x80))
    got["personality"] = in_child(lambda: call(135 if AMD64 else 92, 0x400000))
    for name, request in {"TIOCSTI": 0x5412, "TIOCSTI and more": 0x5412 | 1 << 40, "TIOCLINUX": 0x541C, "TIOCSETD": 0x5423}.items():
        got[name] = terminal(request)
    for name, number in {"AF_VSOCK": 40, "AF_ALG": 38, "AF_PACKET": 17, "AF_KEY": 15, "AF_TIPC": 30, "AF_BLUETOOTH": 31, "AF_RDS": 21}.items():
        got[name] = family(number, socket.SOCK_SEQPACKET if number == 38 else socket.SOCK_STREAM)
    if AMD64:
        got["x32"] = call(0x40000000 | 39)
        got["i386"] = in_child(foreign).replace("SIGSEGV", "ENOSYS")  # some kernels lack the instruction
        got["modify_ldt"] = call(154, 0, 0, 0)
        got["iopl"] = call(172, 3)
    return got


def works():
    """What programs need."""
    done = []
    thread = threading.Thread(target=lambda: done.append(1))
    thread.start()
    thread.join()
    return {
        "a thread": "done" if done else "?",
        "a process": "done" if os.waitstatus_to_exitcode(os.system("true")) == 0 else "?",
        "AF_UNIX": family(socket.AF_UNIX), "AF_INET": family(socket.AF_INET), "AF_INET6": family(socket.AF_INET6), "AF_NETLINK": family(socket.AF_NETLINK),
        "the personality": call(135 if AMD64 else 92, 0xFFFFFFFF), "a terminal": terminal(0x5413),
        "its own files": "done" if os.access("/proc/self/status", os.R_OK) and open("/proc/cpuinfo").read() else "?",
    }


def writable():
    """Lists the files of the kernel that can be opened to be written. Nothing is: the files are those of the machine."""
    opened, seen = [], 0
    for top in ("/proc", "/sys"):
        for directory, _, names in os.walk(top):
            for name in names:
                path = os.path.join(directory, name)
                try:
                    if not stat.S_ISREG(os.lstat(path).st_mode):
                        continue
                    seen += 1
                    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                    opened.append(path)
                except OSError:
                    pass
    return opened, seen


def says(path):
    try:
        with open(path, "rb") as f:
            return len(f.read(1)) > 0
    except OSError:
        return False


def refuses_mode(path):
    """Asks for the mode that a file has: refused where the file system is read-only."""
    try:
        os.chmod(path, stat.S_IMODE(os.stat(path).st_mode))
        return False
    except OSError:
        return True


opened, seen = writable()
opened += [f for f in ("/proc/cpuinfo", "/proc/kmsg", "/proc/mtrr") if os.path.exists(f) and not refuses_mode(f)]
told = [f for f in ("/proc/keys", "/proc/timer_list", "/proc/kcore", "/proc/kmsg") if says(f)]
print(json.dumps({"writable": opened[:20], "seen": seen, "told": told, "calls": calls(), "works": works()}))
