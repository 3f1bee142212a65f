/** Returns the question of a checkpoint in parts. A question without parts is in its asker's own words. */
export function asked(checkpoint) {
    return checkpoint.props.asked ?? { segments: [{ from: 'asker', text: checkpoint.message }], bytes: 0 };
}
