// Turns the messages of a Ringback session into UI messages of the AI SDK
// (npm package "ai"), ready for its chat components.
//
//   const page = await (await fetch(`/api/sessions/${id}/messages`)).json();
//   const uiMessages = toUIMessages(page.messages);
//
// In Ringback, a tool call and its result are two parts, in two messages; in the AI SDK
// they are one part. They are joined by the job and the toolCallId, since the output of
// another job in the session may name the same toolCallId. A call of a tool or an action
// that waits for the user's permission has the state "approval-requested"; its approval
// id is the checkpoint to reply to: POST /api/checkpoints/<id>/reply {"decision": "approve"}.

export function toUIMessages(messages) {
  const calls = new Map(); // job and toolCallId → the part that shows it
  const asked = new Map(); // the same → the checkpoint that asks for it
  const shown = [];
  for (const message of messages) {
    const parts = [];
    for (const part of message.parts) {
      if (part.type === "text") parts.push({ type: "text", text: part.text });
      const id = `${message.requestId} ${part.toolCallId}`;
      if (part.type === "tool-call") {
        const known = calls.get(id);
        const call = known ?? { type: "dynamic-tool", toolName: part.toolName, toolCallId: part.toolCallId };
        call.input = part.input ?? {};
        call.state ??= "input-available"; // an ended call stays ended, unless a person is asked again
        if (message.checkpointId) {
          asked.set(id, message.checkpointId);
          if (message.props?.awaiting_response) {
            Object.assign(call, { state: "approval-requested", approval: { id: message.checkpointId } });
            delete call.output;
            delete call.errorText;
          }
        }
        if (!known) {
          calls.set(id, call);
          parts.push(call);
        }
      }
      if (part.type === "tool-result") finish(calls.get(id), part, asked.get(id));
    }
    if (parts.length > 0) {
      shown.push({ id: String(message.id), role: message.sender === "user" ? "user" : "assistant", metadata: message.props, parts });
    }
  }
  return shown;
}

function finish(call, result, checkpoint) {
  if (!call) return; // its call precedes the page that was read
  delete call.approval;
  switch (result.state) {
    case "output-available":
      Object.assign(call, { state: "output-available", output: result.output });
      break;
    case "output-denied":
      Object.assign(call, { state: "output-denied", approval: { id: checkpoint ?? result.toolCallId, approved: false } });
      break;
    default:
      Object.assign(call, { state: "output-error", errorText: typeof result.output === "string" ? result.output : JSON.stringify(result.output) });
  }
}
