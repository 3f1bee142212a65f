package job

import "time"

// TextEvent is a piece of the text that Claude is writing, for clients that asked for it. It is not
// an event: it has no id and is not stored. The whole text follows in a message event.
type TextEvent struct {
	// Name is "<prefix>:text".
	Name      string    `json:"event"`
	RequestID ID        `json:"requestId"`
	UserID    string    `json:"userId"`
	Time      time.Time `json:"time"`
	Data      TextPiece `json:"data"`
}

// TextPiece is the data of a TextEvent.
type TextPiece struct {
	// Turn is the turn that writes, and Block the number of the text within it, from 1.
	Turn  int `json:"turn"`
	Block int `json:"block"`
	// Piece counts the pieces of the block, from 1. If one is missing, the rest cannot be joined:
	// wait for the message, or for a piece with Whole set.
	Piece int `json:"piece"`
	// Whole is true if Text is the whole block so far, which replaces earlier pieces.
	Whole bool `json:"whole,omitempty"`
	// Text is the text written since the previous piece.
	Text string `json:"text"`
	// Thinking is true if the block is Claude's thinking, not part of its answer: no message follows.
	// It is sent only if the kind has thinking: true.
	Thinking bool `json:"thinking,omitempty"`
	// Simulated is true if a stand-in plays Claude.
	Simulated bool `json:"simulated,omitempty"`
}

// TextName is the name of a TextEvent without its prefix.
const TextName = "text"
