import { type ReactNode } from 'react';
import { type Activity, type Checkpoint, type ConnectionState, type CreatedJob, type Input, type Job, type KindName, type Message, type Reply, type Result, type Ringback, type Word, type Writing } from 'ringback-client';
/** Gives the hooks below it a client. */
export declare function RingbackProvider({ client, children }: {
    client: Ringback;
    children?: ReactNode;
}): import("react").JSX.Element;
/** The client of the nearest RingbackProvider. */
export declare function useRingback(): Ringback;
/** What the queries of the hooks are known by, to read and invalidate them. */
export declare const keys: {
    job: (requestId: string) => readonly ["ringback", "job", string];
    inbox: readonly ["ringback", "inbox"];
    chat: (sessionId: string) => readonly ["ringback", "chat", string];
};
type Items<K> = Result<K> extends {
    suggestions: infer S;
} ? S : unknown[];
/** What is known of a job. */
export interface JobView<K> {
    /** Its record; undefined before it was read. */
    job: Job<K> | undefined;
    /** What Claude has reported last. */
    activity: Activity | undefined;
    /** What Claude is writing, until it has come as a message; undefined unless it was asked for. */
    writing: Writing | undefined;
    /** The result's suggestions, as far as they have come. */
    suggestions: Items<K>;
    /** Whether it has ended, one way or another. */
    ended: boolean;
    /** The question it waits at. */
    checkpoint: Checkpoint | undefined;
    /** What people have written to Claude: each waits until it is heard. */
    words: Word[];
    /** Whether events come as they happen. */
    connection: ConnectionState;
    /** Why it cannot be read or followed. */
    error: Error | null;
}
/** Follows a job; none while requestId is undefined. With `text`, also what Claude is writing. */
export declare function useJob<K = string>(requestId: string | undefined, { text }?: {
    text?: boolean;
}): JobView<K>;
/** A job to ask for, and what is known of it then. */
export interface Run<K> extends JobView<K> {
    /** Asks for a job; what was known of the last one is forgotten. */
    start: (input: Input<K>) => void;
    /** The same, as a promise. */
    startAsync: (input: Input<K>) => Promise<CreatedJob>;
    /** Ends the job. */
    cancel: () => void;
    /** Stops the commands that Claude runs, and keeps the job; with `turn`, or asked again, the whole turn. */
    interrupt: (what?: {
        message?: string;
        turn?: boolean;
    }) => void;
    /** Forgets the job, which goes on. */
    reset: () => void;
    requestId: string | undefined;
    /** Whether it was asked for, and has not ended. */
    isRunning: boolean;
}
/** A mutation that asks for a job of a kind, with the progress of the job. */
export declare function useRun<K extends KindName>(kind: K): Run<K>;
/** Asks for meal suggestions, and shows them as they come. */
export declare const useSuggestions: () => Run<"meal-suggestions">;
/** What waits for the user's answer. */
export interface Inbox {
    checkpoints: Checkpoint[];
    /** Whether there are more than are shown. */
    hasMore: boolean;
    isPending: boolean;
    error: Error | null;
    /** Answers a question: by a decision, by values, or in words. */
    reply: (checkpointId: string, reply: Reply) => Promise<Checkpoint>;
}
/** Shows the questions that wait, and answers them. */
export declare function useInbox(): Inbox;
/** A message of a conversation. */
export interface ChatMessage extends Message {
    /** Whether it came after the user looked: when the conversation was first read, or at the last `look`. */
    isFresh: boolean;
}
/** A conversation between a user and Claude. */
export interface Chat {
    /** All of its messages, oldest first. */
    messages: ChatMessage[];
    isPending: boolean;
    error: Error | null;
    /** Writes the answer to what is asked, or a message to Claude. */
    say: (content: string) => Promise<void>;
    /** Marks all messages as seen: none is fresh until the next one comes. */
    look: () => void;
}
/** Shows a conversation, and writes to it. */
export declare function useChat(sessionId: string): Chat;
export {};
