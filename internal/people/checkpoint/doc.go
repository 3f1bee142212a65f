// Package checkpoint involves people: it asks questions in their chats, interprets their replies,
// and lets the waiting jobs continue.
//
// A checkpoint is an open question in a session. Any later message of its user is the reply. If the
// words alone are certain, package intent interprets them. Otherwise Claude interprets them in a
// job of the kind "reading", with a JSON Schema; if that is not certain either, another checkpoint
// asks again. An approval is never inferred from an uncertain sentence, and never by Claude.
//
// A question arrives as a Request (Ask, or FromLLM from an outside orchestrator) and is validated
// so that any reply to it can be interpreted. A reply arrives as a Reply, or as a chat message
// (ToLLM), for which which.go finds the question. answer.go, with decide.go, understand.go and
// ask_again.go, determines its effect, and lifecycle stores that in one step. A call that asks
// waits in Hold. StartInterpreting and FinishInterpreting are tasks of package notify.
package checkpoint
