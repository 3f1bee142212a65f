const ends = ['received', 'cancelled', 'rejected', 'expired', 'failed'];
/** Reports whether a job in this state has ended. */
export const hasEnded = (state) => ends.includes(state);
const lastEvents = ['received', 'error', 'cancelled', 'rejected'];
/** Reports whether this event is a job's last, unless the job is retried. */
export const isLast = (event) => lastEvents.includes(event.type);
/** Adds the type to an event, whose name is its kind's prefix and the type. */
export function named(event) {
    const whole = ['checkpoint:resolved', 'message:heard'].find((type) => event.event.endsWith(':' + type));
    const type = whole ?? event.event.slice(event.event.lastIndexOf(':') + 1);
    return { ...event, type };
}
