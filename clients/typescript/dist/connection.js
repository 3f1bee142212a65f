import { RingbackError } from './http.js';
import { backOff } from './pause.js';
/** The server's close codes after which connecting again the same way would fail again. */
const unauthorized = 4401;
const final = { 4400: 400, 4403: 403 };
/**
 * The WebSocket of one user, shared by all listeners. Whenever it breaks, another one is opened
 * that resumes after the last event: the server then sends the missed events, once.
 */
export class Connection {
    place;
    since;
    ended;
    #ears = new Set();
    /** The ears that have not joined yet. */
    #new = new Set();
    #socket;
    #state = 'connecting';
    #started = false;
    #failures = 0;
    #refusals = 0;
    #resumed = false;
    #timer;
    constructor(place, 
    /** The id of the last received event. */
    since, ended) {
        this.place = place;
        this.since = since;
        this.ended = ended;
    }
    add(ear) {
        this.#ears.add(ear);
        ear.state(this.#state);
        if (this.#state === 'live') {
            ear.joined();
            this.#subscribe(ear);
        }
        else
            this.#new.add(ear);
        if (this.#started)
            return;
        this.#started = true;
        for (const name of wakeUps)
            globalThis.addEventListener?.(name, this.#wake);
        void this.#connect();
    }
    remove(ear) {
        this.#new.delete(ear);
        if (!this.#ears.delete(ear))
            return;
        if (this.#ears.size === 0)
            return this.#end();
        const { job, reads } = ear;
        if (reads && ![...this.#ears].some((other) => other.reads && other.job === job))
            this.#send({ type: 'unsubscribe', requestId: job, text: true });
    }
    close() {
        this.#ears.clear();
        this.#new.clear();
        this.#end();
    }
    #end() {
        for (const name of wakeUps)
            globalThis.removeEventListener?.(name, this.#wake);
        clearTimeout(this.#timer);
        this.#drop();
        this.#started = false;
        this.ended();
    }
    #fail(error) {
        const ears = [...this.#ears];
        this.close();
        this.#tell((ear) => ear.failed(error), ears);
    }
    /** Has the server check that the job of an ear is the user's, and send the text for it: all of it so far, then the rest. */
    #subscribe({ job, reads }) {
        if (job !== undefined)
            this.#send({ type: 'subscribe', requestId: job, ...(reads && { text: true }) });
    }
    #send(frame) {
        if (this.#state === 'live')
            this.#socket?.send(JSON.stringify(frame));
    }
    #tell(say, ears = this.#ears) {
        for (const ear of [...ears])
            say(ear);
    }
    #become(state) {
        this.#state = state;
        this.#tell((ear) => ear.state(state));
    }
    async #connect() {
        const { base, token, WebSocket, userId } = this.place;
        if (!WebSocket) {
            return this.#fail(new Error('This runtime has no WebSocket. Node has one since version 22, and version 20 with --experimental-websocket; otherwise pass one: new Ringback({ WebSocket }).'));
        }
        this.#become('connecting');
        const credential = token.get();
        let secret;
        try {
            secret = await credential;
        }
        catch {
            return this.#retry(); // the source of tokens may be unavailable, too
        }
        if (!this.#started || this.#socket)
            return;
        const url = new URL('ws', base);
        url.protocol = url.protocol.replace('http', 'ws');
        if (userId)
            url.searchParams.set('userId', userId);
        if (this.since)
            url.searchParams.set('since', this.since);
        this.#resumed = this.since !== undefined;
        const socket = new WebSocket(url, secret ? ['ringback', secret] : ['ringback']);
        this.#socket = socket;
        this.#listenFor(this.place.heartbeat); // a handshake may never be answered
        socket.onopen = () => this.#ask();
        socket.onmessage = ({ data }) => this.#heard(JSON.parse(String(data)));
        socket.onclose = ({ code, reason }) => {
            this.#drop();
            this.#closed(code, reason, secret ? credential : undefined);
        };
    }
    /** Pings the server: its answer also confirms that it has accepted the connection. */
    #ask() {
        this.#socket?.send('{"type":"ping"}');
        this.#listenFor(this.place.heartbeat / 4);
    }
    /** Gives up the connection if it stays silent for so long. */
    #listenFor(ms) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => {
            this.#drop();
            this.#retry();
        }, ms);
    }
    #heard(frame) {
        this.#failures = this.#refusals = 0;
        if (this.#state !== 'live') {
            const joining = [...(this.#resumed ? this.#new : this.#ears)];
            this.#new.clear();
            this.#become('live');
            this.#tell((ear) => ear.joined(), joining);
            this.#tell((ear) => this.#subscribe(ear));
        }
        if (!('event' in frame)) {
            if (frame.type === 'error' && frame.for === 'subscribe')
                this.#tell((ear) => ear.job === frame.requestId && ear.refused?.(frame));
        }
        else if (frame.event === 'resync')
            this.#tell((ear) => ear.resync());
        else if (frame.event?.endsWith(':text'))
            this.#tell((ear) => ear.text?.(frame));
        else if (frame.event) {
            this.since = frame.id;
            this.#tell((ear) => ear.event(frame));
        }
        if (!this.#socket)
            return; // an ear has closed the connection
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#ask(), this.place.heartbeat);
    }
    #closed(code, reason, credential) {
        const status = final[code];
        if (status)
            return this.#fail(new RingbackError(status, reason));
        if (code !== unauthorized)
            return this.#retry();
        if (this.#refusals++ > 0 || !credential || !this.place.token.renew(credential))
            return this.#fail(new RingbackError(401, reason));
        void this.#connect();
    }
    #retry() {
        if (!this.#started)
            return;
        this.#become('waiting');
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => void this.#connect(), backOff(++this.#failures));
    }
    /** Connects or pings at once when the page is shown again, or the network is back. */
    #wake = () => {
        if (globalThis.document?.visibilityState === 'hidden')
            return;
        if (this.#state === 'live')
            this.#ask();
        else if (this.#state === 'waiting') {
            clearTimeout(this.#timer);
            void this.#connect();
        }
    };
    #drop() {
        const socket = this.#socket;
        this.#socket = undefined;
        if (!socket)
            return;
        socket.onopen = socket.onmessage = socket.onclose = null;
        socket.onerror = () => { }; // otherwise some runtimes end the process
        socket.close();
    }
}
const wakeUps = ['online', 'visibilitychange', 'pageshow', 'resume'];
