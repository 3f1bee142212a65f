// Package approval holds the rules of a permission: whether something that Claude
// wants done may happen, and what a person's yes permits. It is pure: no store, no
// clock, no context. Callers load what it needs and store what it decides.
//
// The life of a permission, and where its rules are:
//
//  1. Claude asks for an operation: an action of the job's kind, or a call of one
//     of the CLI's tools, with its input. OfAction and OfTool describe it, and Key
//     says what it is the same as: two inputs with one canonical JSON are one.
//  2. The gate, which is what the kind's front matter says: ToolRules for tools,
//     Confirm for actions. A Verdict is to allow, to ask a person, or to deny.
//  3. A yes that a person gave for more than once may cover it: Standing.
//  4. Else a person is asked (package checkpoint). Permit says what their yes
//     permits: exactly this operation once, within its life, or whatever the same
//     rule asks for, in this job or always.
//  5. The yes is recorded under the key of the operation. The step that notes the run
//     looks it up by that key and uses it up (package lifecycle: StartAction for an
//     action, UseApproval for a tool): it permits one run.
package approval
