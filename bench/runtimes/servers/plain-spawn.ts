/** A process as small as Node makes them, that does nothing but start `true`: the floor under all other ways. */
import { spawn } from 'node:child_process'
import { answerWith } from '../../child.ts'

answerWith(
  () =>
    new Promise<number>((resolve) => {
      const start = performance.now()
      const child = spawn('/bin/true', [], { stdio: ['ignore', 'pipe', 'pipe'], env: {}, detached: true })
      child.stdout.resume()
      child.stderr.resume()
      child.once('close', () => resolve(performance.now() - start))
    }),
)
