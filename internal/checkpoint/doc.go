// Package checkpoint is where people come in: it puts checkpoints into their chats,
// makes sense of what they reply, and lets what waits for it go on.
//
// A checkpoint is an open question in a session. Any message of its
// user after it is the reply. What a reply means is read from its words alone
// where they are certain (package intent); else Claude is asked, with a JSON
// Schema, by a job of the kind "reading"; and where that is not certain either,
// another checkpoint asks again. Whether something may happen is never read
// from an uncertain sentence, and never by Claude.
package checkpoint
