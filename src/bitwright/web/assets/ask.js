// Asking the server: JSON in, JSON out, and one line that says what went wrong.

export async function ask(method, path, body, options = {}) {
  let answer, found = null;
  try {
    answer = await fetch(path, { method, ...(body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }), ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer; is bitwright serve still running?");
  }
  try { found = await answer.json(); } catch { /* said below */ }
  if (!answer.ok || found === null) throw new Error(found?.error ?? `The server answered ${answer.status}.`);
  return found;
}
