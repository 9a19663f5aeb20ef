import { describe, expect, test } from 'vitest'
import { manualTiming } from '../testing/manual-timing.ts'
import { NOT_IN_WHEEL, type Timed, TimerWheel } from './timer-wheel.ts'

const SLOT_MS = 10
const TURN_MS = 20_480

class Alarm implements Timed {
  dueAt: number
  wheelNext: Timed | undefined
  wheelPrevious: Timed | undefined
  wheelSlot = NOT_IN_WHEEL
  rangAt: number | undefined
  readonly #now: () => number
  readonly #then: () => void

  constructor(dueAt: number, now: () => number, then: () => void = () => {}) {
    this.dueAt = dueAt
    this.#now = now
    this.#then = then
  }

  onDue(): void {
    expect(this.rangAt).toBeUndefined()
    this.rangAt = this.#now()
    this.#then()
  }
}

function wheelAt(start = 0) {
  const timing = manualTiming()
  timing.advance(start)
  const wheel = new TimerWheel(timing)
  const add = (dueAt: number, then?: () => void): Alarm => {
    const alarm = new Alarm(dueAt, timing.now, then)
    wheel.add(alarm)
    return alarm
  }
  return { timing, wheel, add }
}

describe('TimerWheel, deadline', () => {
  test('fires never early and at most two slots late', () => {
    for (const start of [0, 3, 9.99, 12_345.678, 1e9 + 0.5]) {
      const { timing, add } = wheelAt(start)
      const alarms = [0, 0.1, 1, 5, 9, 10, 11, 99, 100, 101.5, 1000, 5000].map((ms) => add(start + ms))
      for (let passed = 0; passed < 6000; passed += 7) timing.advance(7)
      for (const { dueAt, rangAt } of alarms) {
        expect(rangAt).toBeGreaterThanOrEqual(dueAt)
        expect(rangAt).toBeLessThanOrEqual(dueAt + 2 * SLOT_MS)
      }
    }
  })

  test('in the past fires within two slots', () => {
    const { timing, add } = wheelAt(1000)
    const alarm = add(500)
    expect(alarm.rangAt).toBeUndefined()
    timing.advance(2 * SLOT_MS)
    expect(alarm.rangAt).toBeLessThanOrEqual(1000 + 2 * SLOT_MS)
  })

  test('beyond one turn of the wheel fires in the right turn', () => {
    const { timing, add } = wheelAt(77)
    const alarms = [TURN_MS - 1, TURN_MS, TURN_MS + 1, 2.5 * TURN_MS, 10 * TURN_MS, 3_600_000].map((ms) => add(77 + ms))
    for (let passed = 0; passed < 3_700_000; passed += 1000) timing.advance(1000)
    for (const { dueAt, rangAt } of alarms) {
      expect(rangAt).toBeGreaterThanOrEqual(dueAt)
      expect(rangAt).toBeLessThanOrEqual(dueAt + 2 * SLOT_MS)
    }
  })

  test('11,000 years ahead does not fire and can be removed', () => {
    const { timing, wheel, add } = wheelAt()
    const alarm = add(99_999_999 * 3_600_000)
    timing.advance(100_000)
    expect(alarm.rangAt).toBeUndefined()
    wheel.remove(alarm)
    expect(wheel.size).toBe(0)
  })

  test('fires after the process was blocked for longer than one turn', () => {
    let now = 0
    let callback = () => {}
    const wheel = new TimerWheel({
      now: () => now,
      after(_ms, given) {
        callback = given
        return () => {}
      },
    })
    const alarms = [5, 15_000, 30_000, 90_000].map((ms) => new Alarm(ms, () => now))
    for (const alarm of alarms) wheel.add(alarm)
    now = 60_000
    callback()
    expect(alarms.map(({ rangAt }) => rangAt)).toEqual([60_000, 60_000, 60_000, undefined])
    expect(wheel.size).toBe(1)
  })
})

describe('TimerWheel.remove', () => {
  test('keeps a timer from firing, from any position in its slot', () => {
    for (const leaver of [0, 1, 2]) {
      const { timing, wheel, add } = wheelAt()
      const alarms = [add(50), add(50), add(50)]
      wheel.remove(alarms[leaver] as Alarm)
      expect(wheel.size).toBe(2)
      timing.advance(100)
      expect(alarms.map(({ rangAt }) => rangAt !== undefined)).toEqual([0, 1, 2].map((i) => i !== leaver))
    }
  })

  test('ignores a timer that was already removed or never added', () => {
    const { timing, wheel, add } = wheelAt()
    const alarm = add(50)
    const stranger = new Alarm(50, timing.now)
    wheel.remove(stranger)
    wheel.remove(alarm)
    wheel.remove(alarm)
    expect(wheel.size).toBe(0)
  })

  test('may be called for timers of the same slot while one of them fires', () => {
    const { timing, wheel, add } = wheelAt()
    const alarms: Alarm[] = []
    const removeOthers = () => {
      for (const alarm of alarms) wheel.remove(alarm)
    }
    alarms.push(add(50, removeOthers), add(50, removeOthers), add(50, removeOthers))
    timing.advance(100)
    expect(alarms.filter(({ rangAt }) => rangAt !== undefined)).toHaveLength(1)
    expect(wheel.size).toBe(0)
  })

  test('and add may be called while a timer fires', () => {
    const { timing, wheel, add } = wheelAt()
    const second = new Alarm(300, timing.now)
    const first = add(50, () => wheel.add(second))
    timing.advance(200)
    expect([first.rangAt !== undefined, second.rangAt]).toEqual([true, undefined])
    timing.advance(200)
    expect(second.rangAt).toBeGreaterThanOrEqual(300)
  })
})

describe('TimerWheel', () => {
  test('schedules a callback only while it holds a timer', () => {
    const { timing, wheel, add } = wheelAt()
    expect(timing.pending()).toBe(0)
    const alarm = add(1000)
    expect(timing.pending()).toBe(1)
    wheel.remove(alarm)
    timing.advance(2 * SLOT_MS)
    expect(timing.pending()).toBe(0)
    add(5000)
    expect(timing.pending()).toBe(1)
    timing.advance(6000)
    expect(timing.pending()).toBe(0)
  })

  test('fires 13,000 of 20,000 timers on time after a third was removed', () => {
    const { timing, wheel, add } = wheelAt(5)
    const alarms = Array.from({ length: 20_000 }, (_, i) => add(5 + ((i * 7919) % 60_000) + (i % 10) / 10))
    const leavers = new Set(alarms.filter((_, i) => i % 3 === 0))
    for (const alarm of leavers) wheel.remove(alarm)
    expect(wheel.size).toBe(alarms.length - leavers.size)
    for (let passed = 0; passed < 61_000; passed += 33) timing.advance(33)
    expect(wheel.size).toBe(0)
    for (const alarm of alarms) {
      if (leavers.has(alarm)) expect(alarm.rangAt).toBeUndefined()
      else expect((alarm.rangAt as number) - alarm.dueAt).toSatisfy((late: number) => late >= 0 && late <= 2 * SLOT_MS)
    }
  })
})
