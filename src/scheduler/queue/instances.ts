import type { InstanceName } from '../../model/instance-name.ts'
import { openInstanceAccount } from '../shares/shares.ts'
import { FEWEST_SWEPT, type QueueState } from './queue-state.ts'
import type { InstanceState } from './records.ts'

/** The state of an instance, created on first use. */
export function instanceNamed(grid: QueueState, name: InstanceName): InstanceState {
  const known = grid.instances.get(name)
  if (known !== undefined) return known
  if (grid.instances.size >= grid.sweepAt.instances) sweepInstances(grid)
  const limits = Object.hasOwn(grid.options.limitsOf, name) ? grid.options.limitsOf[name] : undefined
  const made: InstanceState = {
    ...openInstanceAccount(grid.ledger, name, { ...grid.options.limits, ...limits }),
    queues: { ranks: [], pools: [], levels: [] },
  }
  grid.instances.set(name, made)
  return made
}

function sweepInstances({ instances, sweepAt, ledger }: QueueState): void {
  for (const one of instances.values()) {
    if (one.unfinished > 0) continue
    instances.delete(one.name)
    ledger.close(one.number)
  }
  sweepAt.instances = Math.max(FEWEST_SWEPT.instances, 2 * instances.size)
}
