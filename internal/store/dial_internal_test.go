package store

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/test/must"
)

// A Redis that is just starting refuses MULTI but still answers the rest of the transaction, later
// on a slow network. Those replies must not be taken for replies to other commands.
func TestTheRestOfARefusedTransactionIsNobodysAnswer(t *testing.T) {
	t.Parallel()
	rdb, err := Connect("redis://" + fakeRedis(t, playRedis))
	must.OK(t, err)
	defer rdb.Close()
	for _, length := range []int{1, 300_000} { // the longer one takes several writes
		one := rdb.(*redis.Client).Conn()
		_, err = one.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
			p.Get(t.Context(), "other")
			p.Set(t.Context(), "long", strings.Repeat("x", length), 0)
			return nil
		})
		if err == nil {
			t.Fatal("the transaction was not refused")
		}
		if got, err := one.Get(t.Context(), "mine").Result(); got == "other" {
			t.Errorf("mine is %q, %v", got, err)
		}
		one.Close()
	}
	must.Equal(t, "mine", rdb.Get(t.Context(), "mine").Val(), "mine on another connection is")
}

// fakeRedis listens, handles each connection with play, and returns its address.
func fakeRedis(t *testing.T, play func(net.Conn)) (addr string) {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go play(conn)
		}
	}()
	return listener.Addr().String()
}

// A Redis that hangs while a connection is set up answers later. That reply must not be taken for
// another command's. A Redis that refuses the name must still be usable.
func TestALateAnswerToTheNameIsNobodysAnswer(t *testing.T) {
	t.Parallel()
	const patience = 50 * time.Millisecond
	for name, c := range map[string]struct {
		answer string
		late   bool
	}{
		"late": {"+OK\r\n", true}, "late and refused": {"-NOPERM no\r\n", true}, "refused": {"-NOPERM no\r\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb := redis.NewClient(&redis.Options{
				Addr: fakeRedis(t, func(conn net.Conn) {
					if c.late {
						conn = &lateConn{conn, patience * 3 / 2}
					}
					playRedisWith(conn, map[string]string{"client": c.answer})
				}),
				OnConnect: nameConnection, DisableIdentity: true, ReadTimeout: patience, MaxRetries: -1, PoolSize: 1,
			})
			defer rdb.Close()
			for range 5 {
				got, err := rdb.Get(t.Context(), "mine").Result()
				if got != "mine" && (got != "" || !c.late) {
					t.Errorf("mine is %q, %v", got, err)
				}
			}
		})
	}
}

// lateConn delays the replies to CLIENT.
type lateConn struct {
	net.Conn
	by time.Duration
}

func (l *lateConn) Write(p []byte) (int, error) {
	if text := string(p); text == "+OK\r\n" || strings.HasPrefix(text, "-NOPERM") {
		time.Sleep(l.by)
	}
	return l.Conn.Write(p)
}

// playRedis refuses transactions, slowly, and answers each GET with the key's name.
func playRedis(conn net.Conn) { playRedisWith(conn, nil) }

// playRedisWith is playRedis with fixed answers to some commands.
func playRedisWith(conn net.Conn, answers map[string]string) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		words, err := readCommand(r)
		if err != nil {
			return
		}
		if answer, known := answers[strings.ToLower(words[0])]; known {
			_, _ = io.WriteString(conn, answer)
			continue
		}
		switch strings.ToLower(words[0]) {
		case "hello":
			_, _ = io.WriteString(conn, "-ERR unknown command 'HELLO'\r\n")
		case "multi":
			_, _ = io.WriteString(conn, "-ERR not now\r\n")
			time.Sleep(30 * time.Millisecond) // simulates a slow network
		case "get":
			_, _ = io.WriteString(conn, "$"+itoa(len(words[1]))+"\r\n"+words[1]+"\r\n")
		case "exec":
			_, _ = io.WriteString(conn, "-ERR EXEC without MULTI\r\n")
		default:
			_, _ = io.WriteString(conn, "+OK\r\n")
		}
	}
}

func readCommand(r *bufio.Reader) ([]string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	words := make([]string, atoi(strings.TrimSpace(line[1:])))
	for i := range words {
		if _, err := r.ReadString('\n'); err != nil {
			return nil, err
		}
		word, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		words[i] = strings.TrimSpace(word)
	}
	return words, nil
}
