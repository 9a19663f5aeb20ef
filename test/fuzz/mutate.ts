import type { Random } from './random.ts'

/** Small mutations of a session: of its order, its frame headers and its bytes. */
export function mutate(random: Random, session: readonly Buffer[]): Buffer[] {
  const frames = session.slice()
  const times = 1 + random.below(4)
  for (let i = 0; i < times && frames.length > 0; i++) {
    const change = random.pick(CHANGES)
    change(random, frames)
  }
  return frames
}

type Change = (random: Random, frames: Buffer[]) => void

const INTERESTING = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff]

const duplicate: Change = (random, frames) => {
  const at = random.below(frames.length)
  const times = random.oneIn(8) ? 20 : 1
  for (let i = 0; i < times; i++) frames.splice(at, 0, frames[at] as Buffer)
}

const drop: Change = (random, frames) => {
  frames.splice(random.below(frames.length), 1)
}

const swap: Change = (random, frames) => {
  const [one, other] = [random.below(frames.length), random.below(frames.length)]
  const kept = frames[one] as Buffer
  frames[one] = frames[other] as Buffer
  frames[other] = kept
}

const truncate: Change = (random, frames) => {
  const at = random.below(frames.length)
  const frame = frames[at] as Buffer
  frames[at] = frame.subarray(0, random.below(frame.length + 1))
}

const cutOff: Change = (random, frames) => {
  frames.length = random.below(frames.length) + 1
}

/** Applies `edit` to a copy of a frame. */
const editing =
  (edit: (random: Random, frame: Buffer) => void): Change =>
  (random, frames) => {
    const at = random.below(frames.length)
    const copy = Buffer.from(frames[at] as Buffer)
    if (copy.length < 9) return
    edit(random, copy)
    frames[at] = copy
  }

const flipBit = editing((random, frame) => {
  const at = random.below(frame.length)
  frame[at] = (frame[at] as number) ^ (1 << random.below(8))
})

const setByte = editing((random, frame) => {
  frame[random.below(frame.length)] = random.next()
})

const setLength = editing((random, frame) => {
  const honest = frame.length - 9
  frame.writeUIntBE(random.pick([0, 1, honest - 1, honest + 1, honest + 9, 16_384, 16_385, 0xffffff]) & 0xffffff, 0, 3)
})

const setType = editing((random, frame) => {
  frame[3] = random.below(12)
})

const setFlags = editing((random, frame) => {
  frame[4] = random.oneIn(2) ? random.next() : (frame[4] as number) ^ random.pick([1, 4, 8, 0x20])
})

const setStream = editing((random, frame) => {
  frame.writeUInt32BE(random.pick([0, 1, 2, 3, 5, 7, 9, 11, 0x7fffffff, 0xffffffff]), 5)
})

const setNumber = editing((random, frame) => {
  if (frame.length >= 13) frame.writeUInt32BE(random.pick(INTERESTING), 9 + random.below(frame.length - 12))
})

const insert: Change = (random, frames) => {
  frames.splice(random.below(frames.length + 1), 0, random.bytes(random.below(40)))
}

const CHANGES: readonly Change[] = [
  duplicate,
  drop,
  swap,
  truncate,
  cutOff,
  flipBit,
  flipBit,
  setByte,
  setLength,
  setType,
  setFlags,
  setStream,
  setNumber,
  insert,
]
