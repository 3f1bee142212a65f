package intent_test

import (
	"fmt"

	"ringback/internal/job"
	"ringback/internal/rules/intent"
)

// A decision is accepted only if every word is accounted for; otherwise the person is asked back.
func ExampleRead() {
	question := intent.Context{Type: job.Confirmation, Message: "Deploy shop-api 1.4.0 to production?"}
	for _, text := range []string{"Yes, please.", "Ja, gerne", "No, not today", "Yes, but only to staging"} {
		fmt.Printf("%s: %s\n", text, intent.Read(question, text).Outcome)
	}
	// Output:
	// Yes, please.: approve
	// Ja, gerne: approve
	// No, not today: deny
	// Yes, but only to staging: unclear
}

// An option is found next to polite words.
func ExampleRead_values() {
	question := intent.Context{
		Type: job.ErrorRecovery, Message: "The aspect ratio 5:3 is not supported.", Fields: []intent.Field{{Name: "aspect_ratio", Enum: []any{"16:9", "9:16", "1:1"}}},
	}
	fmt.Println(intent.Read(question, "Use 16:9 please").Values)
	// Output: map[aspect_ratio:16:9]
}
