/** Returns what a checkpoint asks, in parts. A question without parts is one of its asker's, in their own words. */
export function asked(checkpoint) {
    return checkpoint.props.asked ?? { segments: [{ from: 'asker', text: checkpoint.message }], bytes: 0 };
}
