import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { WebSocket } from 'ws'

/** A connection that sends keys and receives their echo. */
export interface Typist {
  type(keys: string): void
  /** Resolves when the next output arrives. */
  heard(): Promise<void>
  close(): void
}

/** The same program without a grid: a pipe to it, and one back. */
export function pipedTypist(argv: readonly [string, ...string[]]): Typist {
  const [program, ...args] = argv
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  return {
    type: (keys) => void child.stdin.write(keys),
    heard: async () => void (await once(child.stdout, 'data')),
    close: () => void child.kill('SIGKILL'),
  }
}

/** Through server, worker, sandbox and, with `pty`, a terminal. Retries until there is a worker. */
export async function gridTypist(http: string, pty: boolean): Promise<Typist> {
  for (let i = 0; i < 300; i++) {
    const socket = new WebSocket(`ws://${http}/api/v1/tasks/interactive`)
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'start', language: 'bash', code: 'echo up; exec cat', pty, encoding: 'binary' }))
    if (await isUp(socket)) return socketTypist(socket)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('no worker came')
}

const isUp = (socket: WebSocket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.on('message', (_, isBinary) => isBinary && resolve(true))
    socket.once('close', () => resolve(false))
  })

const socketTypist = (socket: WebSocket): Typist => ({
  type: (keys) => socket.send(Buffer.from(keys)),
  heard: () => new Promise((resolve) => socket.once('message', () => resolve())),
  close: () => socket.terminate(),
})
