import { quietText } from '../output/table.ts'
import type { Followed } from './follow.ts'

/** The summary of a run beside the command's output; empty for a successful one. */
export function runEndText({ end, operation }: Followed, { forPeople }: { readonly forPeople: boolean }): string {
  const lines = wordsFor(end, idOf(operation), forPeople)
  return lines.map((line) => `windlass: ${quietText(line)}\n`).join('')
}

function wordsFor(end: Followed['end'], id: string | undefined, forPeople: boolean): string[] {
  const more = id === undefined ? '' : `windlass task ${id} shows more, and `
  switch (end.kind) {
    case 'result':
      return forPeople && end.cached ? ['this is what it printed before, from the cache (--no-cache runs it)'] : []
    case 'timeout':
      return [`it took too long and was stopped: ${end.message || 'its time was up'}`, '--timeout gives it more time']
    case 'cancelled':
      return [`it was cancelled: ${end.message || 'no reason was given'}`]
    case 'missing':
      return [`the server lost what was uploaded, twice: ${end.message}`, 'is its storage too small for the inputs?']
    case 'failed':
      return [
        `it was not run: ${end.message || 'the server gave no reason'}`,
        `${more}windlass workers lists the workers`,
      ]
  }
}

/** A name without its long prefix. */
const idOf = (operation: string | undefined): string | undefined =>
  operation === undefined || operation === '' ? undefined : operation.slice(operation.lastIndexOf('/') + 1)
