/**
 * React hooks for jobs of a Ringback server, on TanStack Query. Records are queries, and events
 * keep them up to date.
 */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { type Activity, type Checkpoint, type CheckpointPage, type ConnectionState, type CreatedJob, hasEnded, type Input, type Job, type JobEvent, type KindName, type Message, type MessagePage, type Reply, type Result, type Ringback, type Word, Writer, type Writing } from 'ringback-client';

const Context = createContext<Ringback | undefined>(undefined);

/** Provides a client to the hooks below it. */
export function RingbackProvider({ client, children }: { client: Ringback; children?: ReactNode }) {
  return <Context.Provider value={client}>{children}</Context.Provider>;
}

/** Returns the client of the nearest RingbackProvider. */
export function useRingback(): Ringback {
  const client = useContext(Context);
  if (!client) throw new Error('This component has no RingbackProvider above it: put one around it, with a client.');
  return client;
}

/** The keys of the hooks' queries, to read and invalidate them. */
export const keys = {
  job: (requestId: string) => ['ringback', 'job', requestId] as const,
  inbox: ['ringback', 'inbox'] as const,
  chat: (sessionId: string) => ['ringback', 'chat', sessionId] as const,
};

type Items<K> = Result<K> extends { suggestions: infer S } ? S : unknown[];

/** What listening to a job has reported. */
interface Progress {
  /** The job's requestId. */
  of: string | undefined;
  activity?: Activity;
  writing?: Writing | undefined;
  items: unknown[];
  connection: ConnectionState;
  /** Why its events cannot be received. */
  failure: Error | null;
}

/** A job with its progress. */
export interface JobView<K> {
  /** The record; undefined until it was read. */
  job: Job<K> | undefined;
  /** Claude's latest progress report. */
  activity: Activity | undefined;
  /** The text that Claude is writing, until it arrives as a message; undefined unless `text` is set. */
  writing: Writing | undefined;
  /** The result's suggestions received so far. */
  suggestions: Items<K>;
  /** Whether the job has ended, with or without a result. */
  ended: boolean;
  /** The question at which the job waits. */
  checkpoint: Checkpoint | undefined;
  /** Messages from people to Claude, heard or not. */
  words: Word[];
  /** The state of the connection; events are live only if it is `live`. */
  connection: ConnectionState;
  /** Why the job cannot be read or followed. */
  error: Error | null;
}

/** Follows a job, or none while requestId is undefined. With `text`, also returns what Claude is writing. */
export function useJob<K = string>(requestId: string | undefined, { text = false }: { text?: boolean } = {}): JobView<K> {
  const client = useRingback();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Progress>(() => nothing(requestId));
  const record = useQuery({
    queryKey: keys.job(requestId ?? ''),
    queryFn: ({ signal }) => client.get<K>(requestId!, { signal }),
    enabled: requestId !== undefined,
  });

  useEffect(() => {
    if (requestId === undefined) return;
    setProgress(nothing(requestId));
    const refresh = calm(() => void queries.invalidateQueries({ queryKey: keys.job(requestId) }));
    const writer = new Writer();
    const stop = client.listen<K>({
      requestId,
      onText: text
        ? (piece) => {
            const writing = writer.add(piece);
            if (writing) setProgress((before) => ({ ...before, writing }));
          }
        : undefined,
      onEvent: (event) => {
        setProgress((before) => after(before, event));
        if (event.type !== 'activity' && event.type !== 'partial') refresh();
      },
      onResync: refresh,
      onState: (connection) => setProgress((before) => ({ ...before, connection })),
      onError: (error) => setProgress((before) => ({ ...before, failure: error as Error })),
    });
    return () => {
      refresh.cancel();
      stop();
    };
  }, [client, queries, requestId, text]);

  const job = record.data;
  const told = progress.of === requestId ? progress : nothing(requestId);
  const suggestions = (job?.result as { suggestions?: unknown } | undefined)?.suggestions ?? told.items;
  return {
    job,
    activity: told.activity ?? job?.activity,
    writing: told.writing,
    suggestions: suggestions as Items<K>,
    ended: job !== undefined && hasEnded(job.status),
    checkpoint: job?.checkpoint,
    words: job?.words ?? [],
    connection: told.connection,
    error: told.failure ?? record.error,
  };
}

function nothing(of: string | undefined): Progress {
  return { of, items: [], connection: 'connecting', failure: null };
}

function after<K>(before: Progress, event: JobEvent<K>): Progress {
  switch (event.type) {
    case 'activity':
      return { ...before, activity: event.data };
    case 'message': // it contains the text
      return event.data.message.role === 'assistant' ? { ...before, writing: undefined } : before;
    case 'partial': {
      const batch = event.data.suggestions as unknown[];
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
function useRefresh(queryKey: readonly string[], changes: (event: JobEvent) => boolean): Error | null {
  const client = useRingback();
  const queries = useQueryClient();
  const [failure, setFailure] = useState<Error | null>(null);
  useEffect(() => {
    setFailure(null);
    const refresh = calm(() => void queries.invalidateQueries({ queryKey }));
    const stop = client.listen({
      onEvent: (event) => {
        if (changes(event)) refresh();
      },
      onResync: refresh,
      onError: (error) => setFailure(error as Error),
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
function calm(act: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      act();
    }, gathering);
  };
  soon.cancel = () => clearTimeout(timer);
  return soon;
}

/** How much of a job is interrupted, and why. */
type Interruption = { message?: string; turn?: boolean };

/** A mutation that asks for a job, and the job's progress. */
export interface Run<K> extends JobView<K> {
  /** Asks for a job and forgets the previous one. */
  start: (input: Input<K>) => void;
  /** The same, as a promise. */
  startAsync: (input: Input<K>) => Promise<CreatedJob>;
  /** Ends the job. */
  cancel: () => void;
  /** Stops the commands that Claude runs, and keeps the job; with `turn`, or called again, the whole turn. */
  interrupt: (what?: Interruption) => void;
  /** Forgets the job, which continues. */
  reset: () => void;
  requestId: string | undefined;
  /** Whether the job was asked for and has not ended. */
  isRunning: boolean;
}

/** Returns a mutation that asks for a job of a kind, with the job's progress. */
export function useRun<K extends KindName>(kind: K): Run<K> {
  const client = useRingback();
  const queries = useQueryClient();
  const creation = useMutation({ mutationFn: (input: Input<K>) => client.create(kind, input) });
  const requestId = creation.data?.requestId;
  // The last wish that the job ends or stops: only its failure is shown, and only until the job has ended.
  const wish = useMutation({
    mutationFn: ({ id, interruption }: { id: string; interruption?: Interruption }) => (interruption ? client.interrupt(id, interruption) : client.cancel(id)),
    onSettled: (_, __, { id }) => queries.invalidateQueries({ queryKey: keys.job(id) }),
  });
  const view = useJob<K>(requestId);
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
function ending(job: Job<unknown> | undefined): Error | null {
  if (!job || !hasEnded(job.status) || job.status === 'received') return null;
  return new Error(job.error ?? `The job was ${job.status}.`);
}

/** Asks for meal suggestions, and returns them as they arrive. */
export const useSuggestions = (): Run<'meal-suggestions'> => useRun('meal-suggestions');

/** The questions that wait for the user's answer. */
export interface Inbox {
  checkpoints: Checkpoint[];
  /** Whether there are more than these. */
  hasMore: boolean;
  isPending: boolean;
  /** Why the questions cannot be read or followed, or why the last reply was refused. */
  error: Error | null;
  /** Answers a question: by a decision, by values, or in words. */
  reply: (checkpointId: string, reply: Reply) => Promise<Checkpoint>;
}

/** Returns the questions that wait, and a function that answers them. */
export function useInbox(): Inbox {
  const client = useRingback();
  const queries = useQueryClient();
  const failure = useRefresh(keys.inbox, ({ type }) => type === 'checkpoint' || type === 'checkpoint:resolved');
  const inbox = useQuery<CheckpointPage>({ queryKey: keys.inbox, queryFn: ({ signal }) => client.checkpoints({ status: 'open' }, { signal }) });
  const answer = useMutation({
    mutationFn: ({ checkpointId, reply }: { checkpointId: string; reply: Reply }) => client.reply(checkpointId, reply),
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

/** A message of a conversation. */
export interface ChatMessage extends Message {
  /** True for a message that came after the user looked: after the first read, or the last `look`. */
  isFresh: boolean;
}

/** A conversation between a user and Claude. */
export interface Chat {
  /** All of its messages, oldest first. */
  messages: ChatMessage[];
  isPending: boolean;
  error: Error | null;
  /**
   * Sends an answer to the open question of the messages, or a message to Claude. If they show several
   * open questions, it fails unless `question` names the message of the one that is meant, or is 0. It
   * also fails, and nothing is sent, if another job than the one that is shown would receive it, or if
   * that one has ended and `mayStart` is not set.
   */
  say: (content: string, question?: number) => Promise<void>;
  /** Marks all messages as seen: none is fresh until the next one comes. */
  look: () => void;
}

/** Options of useChat. */
export interface ChatOptions {
  /** The job that the page shows; default: the latest of the conversation. */
  requestId?: string | undefined;
  /** Whether a message may start another job when that one has ended: set it if the page says so. */
  mayStart?: boolean | undefined;
}

/** Returns a conversation, and a function that answers its questions and writes to its job. */
export function useChat(sessionId: string, { requestId, mayStart = false }: ChatOptions = {}): Chat {
  const client = useRingback();
  const queries = useQueryClient();
  const queryKey = keys.chat(sessionId);
  const failure = useRefresh(queryKey, (event) => changesChat(event, sessionId));
  const [seen, setSeen] = useState<{ of: string; last: number }>();
  const chat = useQuery({ queryKey, queryFn: ({ signal }) => conversation(client, sessionId, signal) });
  const messages = chat.data?.messages ?? [];
  const last = chat.data && (messages.at(-1)?.id ?? 0);
  if (last !== undefined && seen?.of !== sessionId) setSeen({ of: sessionId, last });
  const isFresh = ({ id, role }: Message) => role !== 'user' && seen?.of === sessionId && id > seen.last;
  return {
    messages: messages.map((message) => ({ ...message, isFresh: isFresh(message) })),
    isPending: chat.isPending,
    error: failure ?? chat.error,
    say: async (content, question = questionIn(messages)) => {
      const asked = messages.find(({ id }) => id === question);
      const job = asked ? asked.requestId : (requestId ?? chat.data?.latestJob); // a question may be of an earlier job, or of none
      try {
        await client.say(sessionId, content, { question, requestId: job, mayStart });
      } finally {
        void queries.invalidateQueries({ queryKey }); // after a refusal, to show where messages go now
      }
    },
    look: () => last !== undefined && setSeen({ of: sessionId, last }),
  };
}

/** Reports whether an event changes a conversation: its messages, or which job is its latest. */
function changesChat(event: JobEvent, sessionId: string): boolean {
  if (event.type === 'message' || event.type === 'message:heard') return event.data.sessionId === sessionId;
  return event.type === 'pending';
}

/** Returns the message with the question that messages show as open: 0 for none. */
function questionIn(messages: Message[]): number {
  const open = messages.filter(({ messageType, props }) => messageType === 'hitl_checkpoint' && props?.['awaiting_response'] === true);
  if (open.length > 1) throw new Error('Several questions are open: name the message of the one that is answered, or 0 for none');
  return open[0]?.id ?? 0;
}

/** Reads all messages of a conversation, and which job is its latest. */
async function conversation(client: Ringback, sessionId: string, signal: AbortSignal): Promise<MessagePage> {
  const messages: Message[] = [];
  for (let after = 0; ; ) {
    const page = await client.messages(sessionId, { after, limit: 500 }, { signal });
    messages.push(...page.messages);
    if (page.nextAfter === undefined) return { ...page, messages };
    after = page.nextAfter;
  }
}
