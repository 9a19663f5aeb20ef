import { Socket } from 'node:net'

/** Standard input as a lifeline: whoever started us holds the other end, and it closes when they are gone, however. */
export function whenInputEnds(then: () => void): void {
  const { stdin } = process
  for (const event of ['end', 'error'] as const) stdin.once(event, then)
  stdin.resume()
  if (stdin instanceof Socket) stdin.unref() // it must not keep us when all else is done
}
