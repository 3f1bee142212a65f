package store

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// A Redis that is just starting refuses MULTI, and answers the rest of the transaction all
// the same, later on a slow network: that is nobody else's answer.
func TestTheRestOfARefusedTransactionIsNobodysAnswer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go playRedis(conn)
		}
	}()
	rdb, err := Connect("redis://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer rdb.Close()
	for _, length := range []int{1, 300_000} { // the longer takes several writes
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
	if got, err := rdb.Get(t.Context(), "mine").Result(); got != "mine" {
		t.Errorf("mine is %q on another connection, %v", got, err)
	}
}

// playRedis refuses transactions, slowly, and else answers each GET with the key's name.
func playRedis(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		words, err := readCommand(r)
		if err != nil {
			return
		}
		switch strings.ToLower(words[0]) {
		case "hello":
			_, _ = io.WriteString(conn, "-ERR unknown command 'HELLO'\r\n")
		case "multi":
			_, _ = io.WriteString(conn, "-ERR not now\r\n")
			time.Sleep(30 * time.Millisecond) // as the network is slow
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
