import type { components, Events, Kinds, operations, ServerKinds } from './contract.js';
type Schemas = components['schemas'];
/** The name of a kind: one of ServerKinds if these are declared; else one of Kinds, or any other. */
export type KindName = keyof ServerKinds extends never ? keyof Kinds | (string & {}) : keyof ServerKinds;
/** What a kind takes. */
export type Input<K> = K extends keyof ServerKinds ? PartOf<ServerKinds[K], 'input'> : K extends keyof Kinds ? Kinds[K]['input'] : Record<string, unknown>;
/** What comes of a kind. */
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
/** A job as a list shows it: with the fields that were asked for. */
export type JobFields = Schemas['JobFields'];
/** A page of jobs, newest first. */
export type JobPage = Schemas['JobPage'];
/** Which jobs a list shows. */
export type JobQuery = NonNullable<operations['listJobs']['parameters']['query']>;
/** What is told of a job that was just asked for. */
export type CreatedJob = Schemas['CreatedJob'];
/** Where a job stands. */
export type State = Schemas['State'];
/** What Claude has reported of its progress. */
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
/** Which questions a list shows. */
export type CheckpointQuery = NonNullable<operations['listCheckpoints']['parameters']['query']>;
/** A person's answer to a question. */
export type Reply = Schemas['NewReply'];
/** What may come with an approval or a rejection. */
export type Decision = Schemas['NewDecision'];
/** What is wrong with one field of a request. */
export type Detail = Schemas['Detail'];
/** What can happen to a job. */
export type EventType = keyof Events;
type Data<T extends EventType, K> = T extends 'partial' ? Omit<Events[T]['data'], 'suggestions'> & {
    suggestions: Suggestions<K>;
} : Events[T]['data'];
/** Something that happened to a job; `type` says what, and so what `data` holds. */
export type JobEvent<K = string> = {
    [T in EventType]: Omit<Events[T], 'data'> & {
        type: T;
        data: Data<T, K>;
    };
}[EventType];
/** What was heard and what comes next do not join; `job` is the record as it stands now. */
export type Resync<K = string> = {
    type: 'resync';
    job: Job<K>;
};
/** A piece of what Claude is writing. It is not kept: the whole text follows as a message, except for thinking. */
export interface TextPiece {
    /** The turn that writes, and which of its texts this is, from 1. */
    turn: number;
    block: number;
    /** Counts the pieces of the block, from 1. If one is missing, wait for the message, or for a piece that is whole. */
    piece: number;
    /** The text is all of the block so far: it replaces what came before. */
    whole?: boolean;
    text: string;
    /** The block is Claude's thinking, not part of its answer: no message follows. Sent only if the kind has `thinking: true`. */
    thinking?: boolean;
    simulated?: boolean;
}
/** A piece of text as it goes over the wire. */
export interface WireText {
    event: string;
    requestId: string;
    data: TextPiece;
}
/** Whether a job in this state has ended. */
export declare const hasEnded: (state: State) => boolean;
/** Whether this event is a job's last, unless somebody has it tried again. */
export declare const isLast: (event: {
    type: EventType | "resync";
}) => boolean;
/** An event as it goes over the wire. */
export type WireEvent = Events[EventType];
/** Names what has happened, for the name of an event begins with its kind's prefix. */
export declare function named<K>(event: WireEvent): JobEvent<K>;
export {};
