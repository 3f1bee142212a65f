// Package checkpoint is where people come in: it puts checkpoints into their chats,
// makes sense of what they reply, and lets what waits for it go on.
//
// A checkpoint is an open question in a session. Any message of its user after it is
// the reply. What a reply means is read from its words alone where they are certain
// (package intent); else Claude is asked, with a JSON Schema, by a job of the kind
// "reading"; and where that is not certain either, another checkpoint asks again.
// Whether something may happen is never read from an uncertain sentence, and never by
// Claude.
//
// A question comes in as a Request (Ask, or FromLLM from an orchestrator outside), and
// is checked so that any reply to it can be understood. A reply comes in as a Reply, or
// as a message of the chat (ToLLM), for which which.go finds the question. answer.go,
// with decide.go, understand.go and ask_again.go, works out what it does, and lifecycle
// stores that in one step. Who asks within a call waits in Hold. StartReading and
// FinishReading are tasks of package outbox.
package checkpoint
