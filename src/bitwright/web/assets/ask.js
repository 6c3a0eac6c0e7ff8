// Requests to the server: JSON in; JSON out, or lines of JSON with the progress of a job and then its result or an error.

export async function ask(path, body, { signal, progress = () => {} } = {}) {
  let response, message = {};
  try {
    response = await fetch(path, body === undefined ? { signal } : { signal, method: "POST", body: JSON.stringify(body) });
    if (body === undefined || !response.ok) message = await response.json();
    else for await (const line of lines(response.body)) {
      message = JSON.parse(line);
      if (message.progress) progress(message.progress);
    }
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server is not responding; is bitwright serve still running?");
  }
  if (message.error) throw new Error(message.error);
  return message;
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    yield* parts;
  }
  if (rest) throw new Error("the response of the server is incomplete");
}
