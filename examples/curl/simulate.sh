#!/usr/bin/env bash
# Plays Claude with curl, from a job to its result, on a Ringback server.
set -euo pipefail
server=${RINGBACK_URL:-http://localhost:3001}

# post sends the JSON of standard input to a path, and prints the answer, even if refused.
post() {
  curl -sS "$server$1" -H 'Content-Type: application/json' -d @- | jq -c .
}

echo "1. A back end asks for suggestions, to be answered by hand."
created=$(post /api/jobs <<'END'
{"kind": "meal-suggestions", "userId": "u1", "options": {"simulate": "manual"},
 "input": {"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-04"}}
END
)
id=$(jq -er .requestId <<<"$created")
echo "   $created"

echo "2. It reads the callback values of Claude's prompt, once a worker has taken the job."
until values=$(curl -sSf "$server/api/jobs/$id/callback" 2>/dev/null); do sleep 0.1; done
hmac=$(jq -er .hmac <<<"$values")

echo "3. Progress."
post /api/claude/progress <<END
{"requestId": "$id", "hmac": "$hmac", "message": "Browsing Italian recipes...", "progress": 30, "type": "querying"}
END

echo "4. A result with a wrong signature."
post /api/claude/suggestions <<END
{"requestId": "$id", "hmac": "0000", "reasoning": "Quick.", "suggestions": []}
END

echo "5. A result that breaks the schema: the answer names the fields to correct."
post /api/claude/suggestions <<END
{"requestId": "$id", "hmac": "$hmac", "reasoning": "Quick and warm.",
 "suggestions": [{"date": "2026-03-02", "mealType": "brunch", "recipe": {"name": "Lentil soup"}}]}
END

echo "6. The result."
post /api/claude/suggestions <<END
{"requestId": "$id", "hmac": "$hmac", "reasoning": "Quick and warm.",
 "suggestions": [{"date": "2026-03-02", "mealType": "dinner", "recipe": {"name": "Lentil soup"}}]}
END

echo "7. The record that the back end reads then."
curl -sSf "$server/api/jobs/$id" | jq -c '{status, first: .result.suggestions[0].recipe.name}'

echo "8. The events that a page received."
curl -sSf "$server/api/jobs/$id/events" | jq -r '.events[].event'
