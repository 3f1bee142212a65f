import type { components, Events, Kinds, operations, ServerKinds } from './contract.js';
type Schemas = components['schemas'];
/** The name of a kind: one of ServerKinds if these are declared; else one of Kinds, or any other. */
export type KindName = keyof ServerKinds extends never ? keyof Kinds | (string & {}) : keyof ServerKinds;
/** The input of a kind. */
export type Input<K> = K extends keyof ServerKinds ? PartOf<ServerKinds[K], 'input'> : K extends keyof Kinds ? Kinds[K]['input'] : Record<string, unknown>;
/** The result of a kind. */
export type Result<K> = K extends keyof ServerKinds ? PartOf<ServerKinds[K], 'result'> : K extends keyof Kinds ? Kinds[K]['result'] : Record<string, unknown>;
type PartOf<T, P extends string> = T extends {
    [N in P]: infer Part;
} ? Part : never;
type Suggestions<K> = Result<K> extends {
    suggestions: infer S;
} ? S : unknown[];
/** The whole record of a job. */
export type Job<K = string> = Omit<Schemas['Job'], 'kind' | 'input' | 'result'> & {
    kind: K;
    input: Input<K>;
    result?: Result<K>;
};
/** A job in a list, with the requested fields. */
export type JobFields = Schemas['JobFields'];
/** A page of jobs, newest first. */
export type JobPage = Schemas['JobPage'];
/** The filters of a list of jobs. */
export type JobQuery = Omit<ListQuery, 'status'> & {
    status?: State | State[];
};
type ListQuery = NonNullable<operations['listJobs']['parameters']['query']>;
/** A job that was just created. */
export type CreatedJob = Schemas['CreatedJob'];
/** The status of a job. */
export type State = Schemas['State'];
/** Progress that Claude has reported. */
export type Activity = Schemas['Activity'];
/** A message to Claude, and whether Claude has heard it. */
export type Word = Schemas['Word'];
/** A message of a conversation. */
export type Message = Schemas['Message'];
/** A page of a conversation, oldest message first. */
export type MessagePage = Schemas['MessagePage'];
/** A question to a person. */
export type Checkpoint = Schemas['Checkpoint'];
/** A page of questions. */
export type CheckpointPage = Schemas['CheckpointPage'];
/** The filters of a list of questions. */
export type CheckpointQuery = NonNullable<operations['listCheckpoints']['parameters']['query']>;
/** A person's answer to a question. */
export type Reply = Schemas['NewReply'];
/** The details of an approval or a rejection. */
export type Decision = Schemas['NewDecision'];
/** What is wrong with one field of a request. */
export type Detail = Schemas['Detail'];
/** The types of events of jobs. */
export type EventType = keyof Events;
type Data<T extends EventType, K> = T extends 'partial' ? Omit<Events[T]['data'], 'suggestions'> & {
    suggestions: Suggestions<K>;
} : Events[T]['data'];
/** An event of a job; `type` determines the type of `data`. */
export type JobEvent<K = string> = {
    [T in EventType]: Omit<Events[T], 'data'> & {
        type: T;
        data: Data<T, K>;
    };
}[EventType];
/** Events are missing between the last event and the next one; `job` is the current record. */
export type Resync<K = string> = {
    type: 'resync';
    job: Job<K>;
};
/** A piece of the text that Claude is writing. It is not kept: the whole text follows as a message, except for thinking. */
export interface TextPiece {
    /** The turn that writes, and the number of the text in it, from 1. */
    turn: number;
    block: number;
    /** The number of the piece in the block, from 1. If one is missing, wait for the message, or for a piece that is whole. */
    piece: number;
    /** True if the text is all of the block so far, and replaces the earlier pieces. */
    whole?: boolean;
    text: string;
    /** True for Claude's thinking, which is not part of its answer: no message follows. Sent only if the kind has `thinking: true`. */
    thinking?: boolean;
    simulated?: boolean;
}
/** A frame with a piece of text. */
export interface WireText {
    event: string;
    requestId: string;
    data: TextPiece;
}
/** Reports whether a job in this state has ended. */
export declare const hasEnded: (state: State) => boolean;
/** Reports whether this event is a job's last, unless the job is retried. */
export declare const isLast: (event: {
    type: EventType | "resync";
}) => boolean;
/** An event as the server sends it. */
export type WireEvent = Events[EventType];
/** Adds the type to an event, whose name is its kind's prefix and the type. */
export declare function named<K>(event: WireEvent): JobEvent<K>;
export {};
