import { Socket } from 'node:net'
import type { TerminalSize } from '../../model/live-input.ts'
import type { Launch, Launcher, LaunchListener, LaunchSpec } from '../launcher/launcher.ts'
import { type LocalLauncherOptions, localLauncher } from '../launcher/local-launcher.ts'
import { closeInherited } from './close-inherited.ts'
import { FrameWriter, jsonIn, SPAWNER_FRAME, SpawnerFrameReader } from './frames.ts'

/** The parts of the spawner's process that are used. */
export interface SpawnerProcess extends Pick<LocalLauncherOptions, 'clock' | 'send'> {
  /** Ends this process, whatever is still open in it. */
  readonly exit: () => void
}

/** The worker's first message. */
export type SpawnerOpening = Pick<LocalLauncherOptions, 'name' | 'folder' | 'useGroups'>

/** The socket that a spawner inherits. */
const SPAWNER_FD = 3

/**
 * The main function of a spawner process. It starts the processes that the worker requests and reports their ends. When
 * the worker's socket closes, it kills the remaining processes and exits.
 */
export function serveSpawner(spawner: SpawnerProcess): void {
  closeInherited(SPAWNER_FD + 1)
  const socket = new Socket({ fd: SPAWNER_FD, readable: true, writable: true })
  const writer = new FrameWriter(socket)
  const launches = new Map<number, Launch>()
  let launcher: Launcher | undefined

  const reader = new SpawnerFrameReader((kind, number, payload) => {
    const launch = launches.get(number)
    switch (kind) {
      case SPAWNER_FRAME.open:
        launcher = localLauncher({ ...spawner, ...(jsonIn(payload) as SpawnerOpening) })
        void launcher.facts().then((facts) => writer.json(SPAWNER_FRAME.hello, 0, facts))
        return
      case SPAWNER_FRAME.start: {
        const listener = reporting(writer, number, () => launches.delete(number))
        const started = launcher?.start(jsonIn(payload) as LaunchSpec, listener)
        if (started !== undefined) launches.set(number, started)
        return
      }
      case SPAWNER_FRAME.input: // the payload is part of a larger buffer that is about to be reused
        void launch?.write(Buffer.from(payload)).then(() => writer.send(SPAWNER_FRAME.wrote, number))
        if (launch === undefined) writer.send(SPAWNER_FRAME.wrote, number)
        return
      case SPAWNER_FRAME.endInput:
        launch?.endInput()
        return
      case SPAWNER_FRAME.stop:
        launch?.stop()
        return
      case SPAWNER_FRAME.signal:
        launch?.signal?.(jsonIn(payload) as NodeJS.Signals)
        return
      case SPAWNER_FRAME.resize:
        launch?.resize?.(jsonIn(payload) as TerminalSize)
        return
      case SPAWNER_FRAME.release:
        launch?.release?.()
        return
      case SPAWNER_FRAME.expect:
        launcher?.expect()
    }
  })
  socket.on('data', (chunk) => reader.push(chunk))
  socket.on('error', () => {})
  socket.once('close', () => void Promise.resolve(launcher?.close()).finally(() => spawner.exit()))
}

const reporting = (writer: FrameWriter, number: number, over: () => void): LaunchListener => ({
  started: () => writer.send(SPAWNER_FRAME.started, number),
  output: (stream, bytes) => writer.send(SPAWNER_FRAME[stream], number, bytes),
  dropped: (stream, count, tail) => writer.dropped(SPAWNER_FRAME[`${stream}Dropped`], number, { count, tail }),
  ended(end) {
    over()
    writer.json(SPAWNER_FRAME.ended, number, end)
  },
})
