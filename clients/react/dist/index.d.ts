import { type ReactNode } from 'react';
import { type Activity, type Checkpoint, type ConnectionState, type CreatedJob, type Input, type Job, type KindName, type Message, type Reply, type Result, type Ringback, type Word, type Writing } from 'ringback-client';
/** Provides a client to the hooks below it. */
export declare function RingbackProvider({ client, children }: {
    client: Ringback;
    children?: ReactNode;
}): import("react").JSX.Element;
/** Returns the client of the nearest RingbackProvider. */
export declare function useRingback(): Ringback;
/** The keys of the hooks' queries, to read and invalidate them. */
export declare const keys: {
    job: (requestId: string) => readonly ["ringback", "job", string];
    inbox: readonly ["ringback", "inbox"];
    chat: (sessionId: string) => readonly ["ringback", "chat", string];
};
type Items<K> = Result<K> extends {
    suggestions: infer S;
} ? S : unknown[];
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
export declare function useJob<K = string>(requestId: string | undefined, { text }?: {
    text?: boolean;
}): JobView<K>;
/** How much of a job is interrupted, and why. */
type Interruption = {
    message?: string;
    turn?: boolean;
};
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
export declare function useRun<K extends KindName>(kind: K): Run<K>;
/** Asks for meal suggestions, and returns them as they arrive. */
export declare const useSuggestions: () => Run<"meal-suggestions">;
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
export declare function useInbox(): Inbox;
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
export declare function useChat(sessionId: string, { requestId, mayStart }?: ChatOptions): Chat;
export {};
