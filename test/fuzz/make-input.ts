import { PREFACE } from '../../src/grpc/http2/wire-format.ts'
import { settings, settingsAck } from '../../src/testing/http2-frames.ts'
import { hostileFrames } from './grammar.ts'
import type { Input, Step, TargetName } from './input.ts'
import { mutate } from './mutate.ts'
import { Random } from './random.ts'
import { BLOCKS, CLIENT_SESSIONS, SERVER_SESSIONS } from './sessions.ts'

export type TargetChoice = 'frames' | 'hpack' | 'all'

const CHOICES: Readonly<Record<TargetChoice, readonly TargetName[]>> = {
  frames: ['server', 'server', 'server', 'client'],
  hpack: ['hpack'],
  all: ['server', 'server', 'server', 'client', 'hpack'],
}

const HELLO = [settings(), settingsAck]

/** The input with this number: the same for the same seed, whichever inputs came before. */
export function makeInput(seed: number, number: number, choice: TargetChoice): Input {
  const random = new Random(seed, number)
  const target = random.pick(CHOICES[choice])
  return target === 'hpack' ? hpackInput(random) : connectionInput(random, target)
}

function connectionInput(random: Random, target: 'server' | 'client'): Input {
  const way = random.below(20)
  const origin = way === 0 ? 'random' : way < 10 ? 'mutated' : 'grammar'
  const pieces = PIECES[origin](random, target === 'server')
  return { target, origin, steps: toSteps(random, pieces) }
}

/** The bytes that the peer sends, by the way in which they were generated. */
const PIECES: Readonly<Record<'random' | 'mutated' | 'grammar', (random: Random, isClient: boolean) => Buffer[]>> = {
  random(random, isClient) {
    const hello = random.oneIn(2) ? [...(isClient ? [PREFACE] : []), ...HELLO] : []
    return [...hello, random.bytes(random.below(400))]
  },
  mutated(random, isClient) {
    return mutate(random, random.pick(isClient ? CLIENT_SESSIONS : SERVER_SESSIONS))
  },
  grammar(random, isClient) {
    const hello = [...(isClient ? [PREFACE] : []), ...HELLO]
    return [...hello, ...hostileFrames(random, 1 + random.below(20), isClient)]
  },
}

/** Cuts the bytes where a network might, and inserts steps of the clock, the socket and the event loop. */
function toSteps(random: Random, pieces: readonly Buffer[]): Step[] {
  const steps: Step[] = []
  if (random.oneIn(8)) steps.push({ do: 'stall' })
  const turnsOneIn = random.oneIn(5) ? 1 : 12
  for (const bytes of cut(random, pieces)) {
    steps.push({ do: 'bytes', bytes })
    if (random.oneIn(60)) steps.push({ do: 'advance', ms: random.pick([1, 15, 200, 12_000, 400_000]) })
    if (random.oneIn(40)) steps.push({ do: random.oneIn(2) ? 'stall' : 'flow' })
    if (random.oneIn(turnsOneIn)) steps.push({ do: 'turn' })
  }
  if (random.oneIn(2)) steps.push({ do: 'turn' }, { do: 'flow' })
  if (random.oneIn(10)) steps.push({ do: 'advance', ms: 500_000 })
  return steps
}

function cut(random: Random, pieces: readonly Buffer[]): readonly Buffer[] {
  const way = random.below(8)
  if (way < 3) return pieces
  const whole = Buffer.concat(pieces)
  if (way < 6 || whole.length === 0) return [whole]
  const cuts: Buffer[] = []
  const longest = way === 6 ? 30 : whole.length < 200 ? 1 : 4
  for (let at = 0; at < whole.length; ) {
    const size = longest === 30 ? 1 + random.below(30) : longest
    cuts.push(whole.subarray(at, at + size))
    at += size
  }
  return cuts
}

function hpackInput(random: Random): Input {
  const way = random.below(4)
  const origin = way === 0 ? 'random' : way < 3 ? 'mutated' : 'fragments'
  const blocks = way === 0 ? randomBlocks(random) : mutateBlocks(random, random.pick(BLOCKS), way === 3)
  return { target: 'hpack', origin, steps: blocks.map((bytes) => ({ do: 'bytes', bytes })) }
}

const randomBlocks = (random: Random): Buffer[] =>
  Array.from({ length: 1 + random.below(4) }, () => random.bytes(random.below(60)))

function mutateBlocks(random: Random, blocks: readonly Buffer[], joins: boolean): Buffer[] {
  const damaged = blocks.slice(random.below(blocks.length)).map((block) => {
    if (!random.oneIn(3)) return block
    const copy = Buffer.from(block)
    const at = random.below(copy.length)
    copy[at] = random.oneIn(2) ? (copy[at] as number) ^ (1 << random.below(8)) : random.next()
    return random.oneIn(4) ? copy.subarray(0, at) : copy
  })
  if (!joins) return damaged
  return Array.from({ length: 2 + random.below(4) }, () =>
    Buffer.concat(Array.from({ length: 1 + random.below(5) }, () => random.pick(damaged))),
  )
}
