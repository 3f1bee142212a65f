"""Answers a question of the API's in ways that hide who does it: HOW HOST PORT PATH BODY AUTHORIZATION."""
import array, base64, ctypes, os, select, signal, socket, struct, sys, threading, time

how, host, port, path, body, auth = sys.argv[1:7]
address = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
libc = ctypes.CDLL(None, use_errno=True)


def request(method="POST", target=path, text=body, version="1.1", extra=""):
    return (f"{method} {target} HTTP/{version}\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {auth}\r\nContent-Length: {len(text)}\r\n{extra}\r\n{text}").encode()


def dial(source=None):
    s = socket.socket(address[0], socket.SOCK_STREAM)
    if source:
        s.bind((source, 0))
    s.connect(address[4])
    return s


def send(s, text=None, wait=True):
    s.sendall(text or request())
    if wait:
        s.settimeout(10)
        print(s.recv(65536).decode(errors="replace"))


def detach():
    """Leaves the session, the group and all who started this."""
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)


def forked():
    detach()
    os.execve(sys.executable, [sys.executable, __file__, "plain"] + sys.argv[2:], {})


def plain():
    send(dial())


def late():
    s = dial()
    send(s, request("GET", "/healthz", ""))
    time.sleep(1)
    send(s)


def pipelined():
    send(dial(), request("GET", "/healthz", "") + request() + request())


def old():
    send(dial(), request(version="1.0"))


def bound():
    send(dial("::1" if address[0] == socket.AF_INET6 else "127.0.0.9"))


def dying():
    send(dial(), wait=False)
    os.kill(os.getpid(), signal.SIGKILL)


def resetting():
    s = dial()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.sendall(request("GET", "/healthz", ""))
    time.sleep(0.2)
    send(s, wait=False)
    time.sleep(0.005)
    s.close()


def half_closed():
    s = dial()
    s.sendall(request())
    s.shutdown(socket.SHUT_WR)
    print(s.recv(65536).decode())


def in_flight():
    """The connection is in no program while the request is looked at, but on its way to one."""
    s = dial()
    s.sendall(request()[:-1])
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    last = os.dup(s.fileno())
    socket.send_fds(ours, [b"x"], [s.fileno()])
    s.close()
    os.write(last, request()[-1:])
    os.close(last)
    time.sleep(1)
    _, fds, _, _ = socket.recv_fds(theirs, 1, 1)
    print(socket.socket(fileno=fds[0]).recv(65536).decode())


def undumpable():
    libc.prctl(4, 0)  # PR_SET_DUMPABLE
    send(dial())


def in_a_thread():
    """The connection is among the descriptors of one thread only."""
    def run():
        if libc.unshare(0x400):  # CLONE_FILES
            raise OSError(ctypes.get_errno(), "unshare")
        send(dial())
    t = threading.Thread(target=run)
    t.start()
    t.join()


def relay():
    """One process for the half second in which the request is looked at, then another."""
    s = dial()
    s.sendall(request()[:-1])
    end = time.time() + 1
    s.sendall(request()[-1:])
    while time.time() < end:
        if os.fork():
            os._exit(0)
    print(s.recv(65536).decode())


def bounced():
    """Two processes pass the connection to each other without a pause."""
    s = dial()
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    first = os.fork() > 0
    mine = a if first else b
    if first:
        s.sendall(request()[:-1])
        s.sendall(request()[-1:])
        socket.send_fds(mine, [b"x"], [s.fileno()])
    s.close()
    end = time.time() + 1
    while time.time() < end:
        mine.settimeout(2)
        _, fds, _, _ = socket.recv_fds(mine, 1, 1)
        if not fds:
            break
        socket.send_fds(mine, [b"x"], fds)
        os.close(fds[0])


def proxied():
    """A proxy of one's own."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    if os.fork() == 0:
        c = socket.create_connection(listener.getsockname())
        send(c)
        os._exit(0)
    c, _ = listener.accept()
    up = dial()
    while True:
        ready, _, _ = select.select([c, up], [], [], 5)
        if not ready:
            return
        for one in ready:
            data = one.recv(65536)
            if not data:
                return
            (up if one is c else c).sendall(data)


def web_socket():
    key = base64.b64encode(os.urandom(16)).decode()
    s = dial()
    send(s, (f"GET /ws?userId=u1 HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
             f"Authorization: Bearer {auth}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode())
    text = ('{"type":"reply","checkpointId":"' + path.split("/")[3] + '",' + body[1:]).encode()
    frame = bytes([0x81, 0x80 | 126]) + struct.pack(">H", len(text)) + b"\0\0\0\0" + text
    s.sendall(frame)
    print(s.recv(65536).decode(errors="replace"))


{f.__name__: f for f in (plain, forked, late, pipelined, old, bound, dying, resetting, half_closed, in_flight, undumpable,
                         in_a_thread, relay, bounced, proxied, web_socket)}[how]()
