// Asking the server: JSON in, JSON out, and one line that says what went wrong.

export async function ask(method, path, body, options = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      ...options,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer; is bitwright serve still running?");
  }
  let document = null;
  try {
    document = await answer.json();
  } catch { /* said below */ }
  if (!answer.ok || document === null) throw new Error(document?.error ?? `The server answered ${answer.status}.`);
  return document;
}

export const element = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

export const sentence = (text) => text && text[0].toUpperCase() + text.slice(1);

// JSON numbers beyond the safe integers have lost digits, so only their size is shown.
export const whole = (number) => (Number(number) <= Number.MAX_SAFE_INTEGER ? Number(number).toLocaleString("en") : Number.isFinite(Number(number)) ? `about 10^${Math.floor(Math.log10(number))}` : "more than 10^308");
