import { arrow, box, dot, note, svg, text } from './svg.ts'

type Moves = Readonly<Record<string, Readonly<Partial<Record<string, string>>>>>

const BOX = { x: 190, width: 110 }
const PORT = 22
/** From the top of a box to the lane that ends in it. */
const ENTRY = 14
const GAP = 18
const LANE = 34
const LABEL = 80
const TOP = 20

/**
 * The life of a task, drawn from its table: one box per state in the order of the table. A move leaves its state at a port
 * with its name, joins the lane of the state that it leads to (lanes to later states on the right, back to earlier ones on
 * the left), and the lane ends in that state. No two lines lie on each other, however the table changes.
 */
export function taskPicture(moves: Moves): string {
  const states = Object.keys(moves)
  const edges = states.flatMap((from) =>
    Object.entries(moves[from] ?? {}).map(([name, to = '']) => ({
      from,
      to,
      name,
      isBack: isBefore(states, to, from),
    })),
  )
  const boxes = placed(states, edges)
  const laneOf = lanes(states, edges)
  const right = BOX.x + BOX.width
  const shapes = edges.map((edge) => {
    const { name, to, isBack } = edge
    const y = portOf(edge, edges, boxes)
    const start = isBack ? BOX.x : right
    const lane = isBack ? start - LABEL - laneOf(edge) * LANE : start + LABEL + laneOf(edge) * LANE
    const end = (boxes.get(to)?.y ?? 0) + ENTRY
    const side = isBack ? -1 : 1
    const label = text({ x: start + side * 8, y: y - 4, anchor: isBack ? 'end' : 'start' }, name)
    return `${arrow(`M${start} ${y}H${lane}V${end}H${start + side}`)}${dot(lane, y)}${label}`
  })
  for (const [state, at] of boxes)
    shapes.push(box(at, state, Object.keys(moves[state] ?? {}).length > 0 ? 'box' : 'end'))
  const widest = Math.max(...edges.filter(({ isBack }) => !isBack).map(laneOf))
  const last = boxes.get(states.at(-1) ?? '')
  const height = (last?.y ?? 0) + (last?.height ?? 0) + 44
  shapes.push(
    note(
      16,
      height - 14,
      'Read from a name along its line to the arrow. Grey boxes are final. Printed from TASK_MOVES.',
    ),
  )
  return svg({ width: right + LABEL + (widest + 1) * LANE, height }, 'The life of a task', shapes)
}

interface Edge {
  readonly from: string
  readonly to: string
  readonly name: string
  readonly isBack: boolean
}

interface Placed {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const isBefore = (states: readonly string[], one: string, other: string): boolean =>
  states.indexOf(one) < states.indexOf(other)

/** A box is as high as its ports on either side need; lanes end above the first port. */
function placed(states: readonly string[], edges: readonly Edge[]): Map<string, Placed> {
  let y = TOP
  return new Map(
    states.map((state) => {
      const own = edges.filter(({ from }) => from === state)
      const ports = Math.max(own.filter(({ isBack }) => isBack).length, own.filter(({ isBack }) => !isBack).length)
      const at = { ...BOX, y, height: 2 * ENTRY + ports * PORT }
      y += at.height + GAP
      return [state, at]
    }),
  )
}

function portOf(edge: Edge, edges: readonly Edge[], boxes: ReadonlyMap<string, Placed>): number {
  const own = edges.filter(({ from, isBack }) => from === edge.from && isBack === edge.isBack)
  return (boxes.get(edge.from)?.y ?? 0) + ENTRY + (own.indexOf(edge) + 1) * PORT
}

/** One lane for each target and side; targets near by have the inner lanes. */
function lanes(states: readonly string[], edges: readonly Edge[]): (edge: Edge) => number {
  const targets = (isBack: boolean): string[] => {
    const all = states.filter((state) => edges.some((edge) => edge.to === state && edge.isBack === isBack))
    return isBack ? all.reverse() : all
  }
  const [forth, back] = [targets(false), targets(true)]
  return ({ to, isBack }) => (isBack ? back : forth).indexOf(to)
}
