// Command noopcli replaces the Claude CLI in benchmarks: it reports progress three times and
// its result once, as quickly as possible. Its first message is its start time in microseconds
// since the epoch.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	started := time.Now().UnixMicro()
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println("2.1.0 (Claude Code)")
		return
	}
	prompt, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = callBack(string(prompt), started)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func callBack(prompt string, started int64) error {
	addr := strings.TrimPrefix(setting(prompt, "CALLBACK_BASE_URL"), "http://")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	envelope := `{"requestId":"` + setting(prompt, "REQUEST_ID") + `","hmac":"` + setting(prompt, "HMAC_SIGNATURE") + `",`
	for i, message := range []string{strconv.FormatInt(started, 10), "working", "done"} {
		if err := post(conn, answers, addr, "progress", envelope+`"message":"`+message+`","progress":`+strconv.Itoa(30*i)+`}`); err != nil {
			return err
		}
	}
	return post(conn, answers, addr, "suggestions", envelope+`"suggestions":[{"date":"2026-03-02","mealType":"dinner","recipe":{"name":"Soup","source":"Own recipe"}}],"reasoning":"Because."}`)
}

// setting returns a value that the prompt states on its own line.
func setting(prompt, name string) string {
	_, rest, _ := strings.Cut(prompt, "- "+name+": ")
	value, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(value)
}

func post(conn net.Conn, answers *bufio.Reader, addr, endpoint, body string) error {
	request := "POST /api/claude/" + endpoint + " HTTP/1.1\r\nHost: " + addr + "\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	if _, err := io.WriteString(conn, request); err != nil {
		return err
	}
	status, err := answers.ReadString('\n')
	if err != nil {
		return err
	}
	length := 0
	for {
		line, err := answers.ReadString('\n')
		if err != nil {
			return err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if value, ok := strings.CutPrefix(strings.ToLower(line), "content-length:"); ok {
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		}
	}
	if _, err := answers.Discard(length); err != nil {
		return err
	}
	if !strings.Contains(status, " 200 ") {
		return fmt.Errorf("%s answered %s", endpoint, strings.TrimSpace(status))
	}
	return nil
}
