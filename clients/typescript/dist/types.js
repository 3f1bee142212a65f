const ends = ['received', 'cancelled', 'rejected', 'expired', 'failed'];
/** Whether a job in this state has ended. */
export const hasEnded = (state) => ends.includes(state);
const lastEvents = ['received', 'error', 'cancelled', 'rejected'];
/** Whether this event is a job's last, unless somebody has it tried again. */
export const isLast = (event) => lastEvents.includes(event.type);
/** Names what has happened, for the name of an event begins with its kind's prefix. */
export function named(event) {
    const whole = ['checkpoint:resolved', 'message:heard'].find((type) => event.event.endsWith(':' + type));
    const type = whole ?? event.event.slice(event.event.lastIndexOf(':') + 1);
    return { ...event, type };
}
