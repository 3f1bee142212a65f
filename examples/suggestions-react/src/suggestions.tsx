import { type FormEvent } from 'react';
import { useSuggestions } from 'ringback-react';

/** A form that asks for suggestions, Claude's progress, and the suggestions. */
export function Suggestions() {
  const { start, cancel, isRunning, activity, suggestions, job, error } = useSuggestions();
  return (
    <>
      <h1>What to cook</h1>
      <Request disabled={isRunning} onSubmit={start} />
      {isRunning && (
        <p aria-live="polite">
          <progress max={100} value={activity?.progress ?? 0} />
          {activity?.message ?? 'Waiting for Claude'} <button onClick={cancel}>Cancel</button>
        </p>
      )}
      {error && <p role="alert">{error.message}</p>}
      <ul className="cards">
        {suggestions.map(({ date, mealType, recipe }) => (
          <li key={`${date} ${mealType} ${recipe.name}`}>
            <h2>{recipe.name}</h2>
            <p>
              {mealType}, {date}
            </p>
            <p>{recipe.description}</p>
          </li>
        ))}
      </ul>
      {job?.result && <p>{job.result.reasoning}</p>}
    </>
  );
}

interface Wish {
  dateRangeStart: string;
  dateRangeEnd: string;
  preferences?: string;
}

function Request({ disabled, onSubmit }: { disabled: boolean; onSubmit: (wish: Wish) => void }) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '');
    const preferences = text('preferences');
    onSubmit({ dateRangeStart: text('from'), dateRangeEnd: text('to'), ...(preferences && { preferences }) });
  };
  return (
    <form onSubmit={submit}>
      <label>
        From <input name="from" type="date" required defaultValue="2026-03-02" />
      </label>
      <label>
        To <input name="to" type="date" required defaultValue="2026-03-06" />
      </label>
      <label>
        Wishes <input name="preferences" />
      </label>
      <button disabled={disabled}>Suggest</button>
    </form>
  );
}
