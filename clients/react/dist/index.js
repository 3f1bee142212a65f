import { jsx as _jsx } from "react/jsx-runtime";
/**
 * React hooks for jobs of a Ringback server, on TanStack Query. Records are queries, and events
 * keep them up to date.
 */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useState } from 'react';
import { hasEnded, Writer } from 'ringback-client';
const Context = createContext(undefined);
/** Provides a client to the hooks below it. */
export function RingbackProvider({ client, children }) {
    return _jsx(Context.Provider, { value: client, children: children });
}
/** Returns the client of the nearest RingbackProvider. */
export function useRingback() {
    const client = useContext(Context);
    if (!client)
        throw new Error('This component has no RingbackProvider above it: put one around it, with a client.');
    return client;
}
/** The keys of the hooks' queries, to read and invalidate them. */
export const keys = {
    job: (requestId) => ['ringback', 'job', requestId],
    inbox: ['ringback', 'inbox'],
    chat: (sessionId) => ['ringback', 'chat', sessionId],
};
/** Follows a job, or none while requestId is undefined. With `text`, also returns what Claude is writing. */
export function useJob(requestId, { text = false } = {}) {
    const client = useRingback();
    const queries = useQueryClient();
    const [progress, setProgress] = useState(() => nothing(requestId));
    const record = useQuery({
        queryKey: keys.job(requestId ?? ''),
        queryFn: ({ signal }) => client.get(requestId, { signal }),
        enabled: requestId !== undefined,
    });
    useEffect(() => {
        if (requestId === undefined)
            return;
        setProgress(nothing(requestId));
        const refresh = calm(() => void queries.invalidateQueries({ queryKey: keys.job(requestId) }));
        const writer = new Writer();
        const stop = client.listen({
            requestId,
            onText: text
                ? (piece) => {
                    const writing = writer.add(piece);
                    if (writing)
                        setProgress((before) => ({ ...before, writing }));
                }
                : undefined,
            onEvent: (event) => {
                setProgress((before) => after(before, event));
                if (event.type !== 'activity' && event.type !== 'partial')
                    refresh();
            },
            onResync: refresh,
            onState: (connection) => setProgress((before) => ({ ...before, connection })),
            onError: (error) => setProgress((before) => ({ ...before, failure: error })),
        });
        return () => {
            refresh.cancel();
            stop();
        };
    }, [client, queries, requestId, text]);
    const job = record.data;
    const told = progress.of === requestId ? progress : nothing(requestId);
    const suggestions = job?.result?.suggestions ?? told.items;
    return {
        job,
        activity: told.activity ?? job?.activity,
        writing: told.writing,
        suggestions: suggestions,
        ended: job !== undefined && hasEnded(job.status),
        checkpoint: job?.checkpoint,
        words: job?.words ?? [],
        connection: told.connection,
        error: told.failure ?? record.error,
    };
}
function nothing(of) {
    return { of, items: [], connection: 'connecting', failure: null };
}
function after(before, event) {
    switch (event.type) {
        case 'activity':
            return { ...before, activity: event.data };
        case 'message': // it contains the text
            return event.data.message.role === 'assistant' ? { ...before, writing: undefined } : before;
        case 'partial': {
            const batch = event.data.suggestions;
            const kept = before.items.slice(0, event.data.total - batch.length); // a turn that starts over sends its batches again
            return { ...before, items: [...kept, ...batch] };
        }
    }
    return before;
}
/**
 * Reads a query again when an event of the user changes its data. `changes` may depend on nothing
 * but the key. Returns why events cannot be received.
 */
function useRefresh(queryKey, changes) {
    const client = useRingback();
    const queries = useQueryClient();
    const [failure, setFailure] = useState(null);
    useEffect(() => {
        setFailure(null);
        const refresh = calm(() => void queries.invalidateQueries({ queryKey }));
        const stop = client.listen({
            onEvent: (event) => {
                if (changes(event))
                    refresh();
            },
            onResync: refresh,
            onError: (error) => setFailure(error),
        });
        return () => {
            refresh.cancel();
            stop();
        };
    }, [client, queries, ...queryKey]);
    return failure;
}
const gathering = 50; // ms
/** Returns a function that acts once for many calls in a short time. */
function calm(act) {
    let timer;
    const soon = () => {
        timer ??= setTimeout(() => {
            timer = undefined;
            act();
        }, gathering);
    };
    soon.cancel = () => clearTimeout(timer);
    return soon;
}
/** Returns a mutation that asks for a job of a kind, with the job's progress. */
export function useRun(kind) {
    const client = useRingback();
    const queries = useQueryClient();
    const creation = useMutation({ mutationFn: (input) => client.create(kind, input) });
    const requestId = creation.data?.requestId;
    // The last wish that the job ends or stops: only its failure is shown, and only until the job has ended.
    const wish = useMutation({
        mutationFn: ({ id, interruption }) => (interruption ? client.interrupt(id, interruption) : client.cancel(id)),
        onSettled: (_, __, { id }) => queries.invalidateQueries({ queryKey: keys.job(id) }),
    });
    const view = useJob(requestId);
    const failure = creation.error ?? view.error ?? ending(view.job);
    const refusal = wish.variables?.id === requestId && !view.ended ? wish.error : null;
    return {
        ...view,
        start: creation.mutate,
        startAsync: creation.mutateAsync,
        cancel: () => requestId !== undefined && wish.mutate({ id: requestId }),
        interrupt: (interruption = {}) => requestId !== undefined && wish.mutate({ id: requestId, interruption }),
        reset: creation.reset,
        requestId,
        error: failure ?? refusal,
        isRunning: creation.isPending || (requestId !== undefined && !view.ended && failure === null),
    };
}
/** Returns why a job has ended without a result. */
function ending(job) {
    if (!job || !hasEnded(job.status) || job.status === 'received')
        return null;
    return new Error(job.error ?? `The job was ${job.status}.`);
}
/** Asks for meal suggestions, and returns them as they arrive. */
export const useSuggestions = () => useRun('meal-suggestions');
/** Returns the questions that wait, and a function that answers them. */
export function useInbox() {
    const client = useRingback();
    const queries = useQueryClient();
    const failure = useRefresh(keys.inbox, ({ type }) => type === 'checkpoint' || type === 'checkpoint:resolved');
    const inbox = useQuery({ queryKey: keys.inbox, queryFn: ({ signal }) => client.checkpoints({ status: 'open' }, { signal }) });
    const answer = useMutation({
        mutationFn: ({ checkpointId, reply }) => client.reply(checkpointId, reply),
        onSettled: () => queries.invalidateQueries({ queryKey: keys.inbox }),
    });
    return {
        checkpoints: inbox.data?.checkpoints ?? [],
        hasMore: inbox.data?.nextCursor !== undefined,
        isPending: inbox.isPending,
        error: failure ?? inbox.error ?? answer.error,
        reply: (checkpointId, reply) => answer.mutateAsync({ checkpointId, reply }),
    };
}
/** Returns a conversation, and a function that answers its questions and writes to its job. */
export function useChat(sessionId, { requestId, mayStart = false } = {}) {
    const client = useRingback();
    const queries = useQueryClient();
    const queryKey = keys.chat(sessionId);
    const failure = useRefresh(queryKey, (event) => changesChat(event, sessionId));
    const [seen, setSeen] = useState();
    const chat = useQuery({ queryKey, queryFn: ({ signal }) => conversation(client, sessionId, signal) });
    const messages = chat.data?.messages ?? [];
    const last = chat.data && (messages.at(-1)?.id ?? 0);
    if (last !== undefined && seen?.of !== sessionId)
        setSeen({ of: sessionId, last });
    const isFresh = ({ id, role }) => role !== 'user' && seen?.of === sessionId && id > seen.last;
    return {
        messages: messages.map((message) => ({ ...message, isFresh: isFresh(message) })),
        isPending: chat.isPending,
        error: failure ?? chat.error,
        say: async (content, question = questionIn(messages)) => {
            const asked = messages.find(({ id }) => id === question);
            const job = asked ? asked.requestId : (requestId ?? chat.data?.latestJob); // a question may be of an earlier job, or of none
            try {
                await client.say(sessionId, content, { question, requestId: job, mayStart });
            }
            finally {
                void queries.invalidateQueries({ queryKey }); // after a refusal, to show where messages go now
            }
        },
        look: () => last !== undefined && setSeen({ of: sessionId, last }),
    };
}
/** Reports whether an event changes a conversation: its messages, or which job is its latest. */
function changesChat(event, sessionId) {
    if (event.type === 'message' || event.type === 'message:heard')
        return event.data.sessionId === sessionId;
    return event.type === 'pending';
}
/** Returns the message with the question that messages show as open: 0 for none. */
function questionIn(messages) {
    const open = messages.filter(({ messageType, props }) => messageType === 'hitl_checkpoint' && props?.['awaiting_response'] === true);
    if (open.length > 1)
        throw new Error('Several questions are open: name the message of the one that is answered, or 0 for none');
    return open[0]?.id ?? 0;
}
/** Reads all messages of a conversation, and which job is its latest. */
async function conversation(client, sessionId, signal) {
    const messages = [];
    for (let after = 0;;) {
        const page = await client.messages(sessionId, { after, limit: 500 }, { signal });
        messages.push(...page.messages);
        if (page.nextAfter === undefined)
            return { ...page, messages };
        after = page.nextAfter;
    }
}
