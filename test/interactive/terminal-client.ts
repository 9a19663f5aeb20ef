import { WebSocket } from 'ws'

export interface Message {
  readonly type: string
  readonly [field: string]: unknown
}

/** A client of the interactive API: the messages that it sends and receives. */
export interface TerminalClient {
  readonly socket: WebSocket
  say(message: object): void
  type(text: string): void
  /** Resolves when these words were printed since the last call; rejects when the program ended without them. */
  reads(words: string): Promise<string>
  /** The next message of a type. */
  told(type: string): Promise<Message>
  readonly closed: Promise<number>
  /** Everything printed, of both streams. */
  printed(): string
}

export function terminalClient(url: string): TerminalClient {
  const socket = new WebSocket(`${url}/api/v1/tasks/interactive`)
  const messages: Message[] = []
  const opened = new Promise<void>((resolve) => socket.once('open', () => resolve()))
  let all = ''
  let unread = ''
  let isClosed = false
  let looks: (() => void)[] = []
  const look = (): void => {
    const due = looks
    looks = []
    for (const each of due) each()
  }
  socket.on('error', () => {})
  socket.on('message', (data, isBinary) => {
    const bytes = data as Buffer
    const message = isBinary ? undefined : (JSON.parse(bytes.toString()) as Message)
    const text =
      message === undefined ? bytes.subarray(1).toString() : message.type === 'output' ? `${message.data}` : ''
    all += text
    unread += text
    if (message !== undefined && message.type !== 'output') messages.push(message)
    look()
  })
  const closed = new Promise<number>((resolve) =>
    socket.once('close', (code) => {
      isClosed = true
      look()
      resolve(code)
    }),
  )
  const until = async (isSo: () => boolean, what: string): Promise<void> => {
    while (!isSo()) {
      if (isClosed) throw new Error(`${what} never came: ${JSON.stringify(all)}, ${JSON.stringify(messages)}`)
      await new Promise<void>((resolve) => looks.push(resolve))
    }
  }
  const send = (data: string | Buffer): void => void opened.then(() => socket.send(data))
  return {
    socket,
    say: (message) => send(JSON.stringify(message)),
    type: (text) => send(Buffer.from(text)),
    async reads(words) {
      await until(() => unread.includes(words), words)
      const end = unread.indexOf(words) + words.length
      const read = unread.slice(0, end)
      unread = unread.slice(end)
      return read
    },
    async told(type) {
      const at = (): number => messages.findIndex((message) => message.type === type)
      await until(() => at() >= 0, `a message of type ${type}`)
      return messages.splice(at(), 1)[0] as Message
    },
    closed,
    printed: () => all,
  }
}
