import { Socket } from 'node:net'

/** Watches standard input: the parent process holds the other end, which closes when the parent ends in any way. */
export function whenInputEnds(then: () => void): void {
  const { stdin } = process
  for (const event of ['end', 'error'] as const) stdin.once(event, then)
  stdin.resume()
  if (stdin instanceof Socket) stdin.unref() // it must not keep this process alive
}
