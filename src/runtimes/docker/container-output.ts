import type { LaunchListener, OutputName } from '../launcher/launcher.ts'
import { OutputWindow } from '../launcher/output-window.ts'
import { StreamFrameReader } from './stream-frames.ts'

export interface OutputOptions {
  readonly listener: LaunchListener
  /** The limit of each stream. */
  readonly outputBytes: number
  readonly floodBytes: number | undefined
  readonly flooded: () => void
}

/**
 * Forwards the output of an attached container through one window per stream. It reads output as fast as it arrives,
 * and keeps only up to the limit.
 */
export class ContainerOutput {
  readonly #options: OutputOptions
  readonly #windows: Readonly<Record<OutputName, OutputWindow>>
  readonly #frames = new StreamFrameReader((name, bytes) => this.#pass(name, bytes))
  #bytes = 0

  constructor(options: OutputOptions) {
    this.#options = options
    this.#windows = { stdout: new OutputWindow(options.outputBytes), stderr: new OutputWindow(options.outputBytes) }
  }

  push(bytes: Buffer): void {
    this.#frames.push(bytes)
  }

  end(): void {
    for (const name of ['stdout', 'stderr'] as const) {
      const window = this.#windows[name]
      if (window.dropped > 0) this.#options.listener.dropped(name, window.dropped, window.tail())
    }
  }

  #pass(name: OutputName, bytes: Uint8Array): void {
    const { listener, floodBytes = Number.POSITIVE_INFINITY, flooded } = this.#options
    const now = this.#windows[name].push(bytes)
    if (now !== undefined) listener.output(name, now)
    const before = this.#bytes
    this.#bytes += bytes.length
    if (before <= floodBytes && this.#bytes > floodBytes) flooded()
  }
}
