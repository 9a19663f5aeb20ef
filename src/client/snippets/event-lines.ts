/** One message of a stream of server-sent events. */
export interface ServerEvent {
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

/** Parses server-sent events (HTML standard, 9.2.6), as far as our server uses them: comments are skipped. */
export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of body) {
    const blocks = (rest + decoder.decode(piece, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = eventIn(block)
      if (event !== undefined) yield event
    }
  }
}

function eventIn(block: string): ServerEvent | undefined {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''))
  }
  const [event, data] = [fields.get('event'), fields.get('data')]
  return event === undefined || data === undefined ? undefined : { id: fields.get('id'), event, data }
}
