/** Joins the pieces of Claude's text. */
export class Writer {
    #last;
    #text = '';
    /** Returns the text with another piece; undefined if an earlier one is missing: then the message has the rest. */
    add(piece) {
        const last = this.#last;
        if (piece.whole)
            this.#text = piece.text;
        else if (last?.turn === piece.turn && last.block === piece.block && last.piece + 1 === piece.piece)
            this.#text += piece.text;
        else
            return undefined;
        this.#last = piece;
        const { turn, block, thinking, simulated } = piece;
        return { turn, block, text: this.#text, ...(thinking && { thinking }), ...(simulated && { simulated }) };
    }
}
