// Asking the server: JSON in; JSON out, or lines of JSON with the progress of a job, its result at the end, or one line that says what went wrong.

export async function ask(path, body, { signal, progress = () => {} } = {}) {
  let answer, found = {};
  try {
    answer = await fetch(path, body === undefined ? { signal } : { signal, method: "POST", body: JSON.stringify(body) });
    if (body === undefined || !answer.ok) found = await answer.json();
    else for await (const line of lines(answer.body)) {
      found = JSON.parse(line);
      if (found.progress) progress(found.progress);
    }
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer; is bitwright serve still running?");
  }
  if (found.error) throw new Error(found.error);
  return found;
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    yield* parts;
  }
  if (rest) throw new Error("the answer was cut off");
}
