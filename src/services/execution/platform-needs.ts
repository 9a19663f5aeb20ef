import type { TaskRequest } from '../../engine/tasks/task-request.ts'
import type { PlatformProperty } from '../../model/command.ts'

type Needs = Required<Pick<TaskRequest, 'properties' | 'demands'>>
type Resources = Needs['demands']

/**
 * Platform properties that are amounts. A worker with a larger amount fits too, and the task reserves its amount. If
 * the value is not an amount, the property is an ordinary one (some platforms call the kind of processor `cpu`). A
 * worker must offer an ordinary property with exactly the requested value.
 *
 * | property       | value                                                                  |
 * |----------------|------------------------------------------------------------------------|
 * | cpu, cores     | processors: `4`, `0.5`, `500m`                                         |
 * | memory, disk   | bytes: `1073741824`, `512M`, `2Gi`, `1.5GB` (K M G T: powers of 1000)  |
 */
const AMOUNTS: Readonly<Record<string, (value: string) => Resources | undefined>> = {
  cpu: cpuOf,
  cores: cpuOf,
  memory: (value) => bytesAs('memoryBytes', value),
  disk: (value) => bytesAs('diskBytes', value),
}

export function platformNeeds(platform: readonly PlatformProperty[]): Needs {
  const properties: PlatformProperty[] = []
  let demands: Resources = {}
  for (const property of platform) {
    const { name, value } = property
    const amount = Object.hasOwn(AMOUNTS, name) ? AMOUNTS[name]?.(value.trim()) : undefined
    if (amount === undefined) properties.push(property)
    else demands = { ...demands, ...amount }
  }
  return { properties, demands }
}

function cpuOf(value: string): Resources | undefined {
  const [, number, milli] = /^(\d{1,6}(?:\.\d{1,6})?)(m?)$/.exec(value) ?? []
  return number === undefined ? undefined : { cpu: Number(number) / (milli === 'm' ? 1000 : 1) }
}

const UNITS: Readonly<Record<string, number>> = { '': 0, k: 1, m: 2, g: 3, t: 4 }

function bytesAs(name: 'memoryBytes' | 'diskBytes', value: string): Resources | undefined {
  const [, number, unit = '', binary] = /^(\d{1,15}(?:\.\d{1,6})?)([kmgt]?)(i?)b?$/i.exec(value) ?? []
  if (number === undefined || (unit === '' && binary === 'i')) return undefined
  return { [name]: Math.round(Number(number) * (binary ? 1024 : 1000) ** (UNITS[unit.toLowerCase()] ?? 0)) }
}
