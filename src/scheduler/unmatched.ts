import type { GridState } from './grid.ts'
import { type Amounts, describeAmounts } from './model/amounts.ts'
import type { Property } from './model/events.ts'
import type { Task } from './queue/records.ts'
import type { WorkerClass } from './workers/worker.ts'
import { offersProperty } from './workers/worker-class.ts'

/** Explains which requirement of the task no worker meets. */
export function unmatched(grid: GridState, { group, demand }: Task): string {
  const live = [...grid.classes.values()].filter((one) => one.live > 0)
  if (live.length === 0) return noWorker(group.properties)
  const alone = group.properties.find((property) => !live.some((one) => offersProperty(one, property)))
  if (alone !== undefined) return `no worker offers ${text(alone)}`
  const fitting = live.filter((one) => group.properties.every((property) => offersProperty(one, property)))
  if (fitting.length === 0) return `no worker offers all of ${group.properties.map(text).join(', ')}`
  const lasting = group.refusesPreemptible ? fitting.filter((one) => !one.preemptible) : fitting
  if (lasting.length === 0) return 'every worker that fits is preemptible, which the task refuses'
  return `no worker is large enough: the task needs ${describeAmounts(demand)}, ${largest(lasting, demand)}`
}

const noWorker = (needed: readonly Property[]): string =>
  needed.length === 0
    ? 'no worker is registered'
    : `no worker is registered; the task needs ${needed.map(text).join(', ')}`

const text = ({ name, value }: Property): string => `${name}=${value}`

function largest(classes: readonly WorkerClass[], demand: Amounts): string {
  const totals = classes.flatMap((one) => [...one.shapes.values()].map(({ total }) => total))
  for (const name of ['cpu', 'memory', 'disk'] as const) {
    const most = Math.max(...totals.map((total) => total[name]))
    if (most < demand[name]) {
      const has = describeAmounts({ cpu: 0, memory: 0, disk: 0, [name]: most })
      return has === '' ? `no worker has any ${name}` : `the largest worker has ${has}`
    }
  }
  return 'and no worker has all of these'
}
