import { arrow, type Box, box, note, svg } from './svg.ts'
import { untangled } from './untangle.ts'

/** The folders that each folder may import. */
export type Arrows = Readonly<Record<string, readonly string[]>>

const HEIGHT = 34
const ROW = 92
const LETTER = 8.2
const WIDTH = 860
const TOP = 24
const ROUNDS = 12

/**
 * Draws the folders under src in levels: a folder is above all that it may import, and the folders that every folder may
 * import are the bar at the bottom. Arrows that follow from other arrows are left out. An arrow that passes a level has a
 * point of its own there, which is placed like a folder, so that it does not run behind one.
 */
export function foldersPicture(arrows: Arrows, ground: readonly string[]): string {
  const names = Object.keys(arrows).filter((name) => !ground.includes(name))
  const plain = acyclic(
    Object.fromEntries(names.map((name) => [name, (arrows[name] ?? []).filter((to) => names.includes(to))])),
  )
  const levels = levelsOf(plain)
  const ways = names.flatMap((from) => reduced(plain, from).map((to) => wayOf(from, to, levels)))
  const boxes = placed(untangled(ordered(levels, ways), ways))
  const shapes = ways.map((way) => arrow(curveThrough(way.map((name) => boxes.get(name) as Box))))
  for (const name of names) shapes.push(box(boxes.get(name) as Box, `${name}/`))
  const bottom = TOP + levels.length * ROW
  const bar = { x: 20, y: bottom, width: WIDTH - 40, height: HEIGHT }
  shapes.push(box(bar, `${ground.join('/, ')}/: every folder except grpc/ may import them`))
  shapes.push(note(20, bottom + HEIGHT + 24, NOTE))
  return svg({ width: WIDTH, height: bottom + HEIGHT + 40 }, 'The folders under src and what they may import', shapes)
}

const NOTE = 'An arrow means "may import". Arrows that follow from other arrows are left out. Printed from REACH.'

/** Without arrows that close a ring: levels need none, and the tidy test reports the ring itself. */
function acyclic(arrows: Arrows): Arrows {
  const kept: Record<string, string[]> = {}
  const leadsTo = (name: string, to: string): boolean =>
    name === to || (kept[name] ?? []).some((next) => leadsTo(next, to))
  for (const [from, targets] of Object.entries(arrows)) kept[from] = targets.filter((to) => !leadsTo(to, from))
  return kept
}

/** Folders by the longest way down from them, the highest level first. */
function levelsOf(arrows: Arrows): string[][] {
  const depths = new Map<string, number>()
  const depthOf = (name: string): number => {
    const depth = depths.get(name) ?? Math.max(-1, ...(arrows[name] ?? []).map(depthOf)) + 1
    depths.set(name, depth)
    return depth
  }
  const levels: string[][] = []
  for (const name of Object.keys(arrows)) {
    const depth = depthOf(name)
    levels[depth] = [...(levels[depth] ?? []), name]
  }
  return levels.reverse()
}

/** The arrows of a folder without those to a folder that another of its arrows leads to. */
function reduced(arrows: Arrows, from: string): string[] {
  const direct = arrows[from] ?? []
  const leadsTo = (name: string, to: string): boolean =>
    (arrows[name] ?? []).some((next) => next === to || leadsTo(next, to))
  return direct.filter((to) => !direct.some((other) => other !== to && leadsTo(other, to)))
}

/** The two ends of an arrow, and between them a point at each level that it passes, which is added to that level. */
function wayOf(from: string, to: string, levels: readonly string[][]): string[] {
  const levelOf = (name: string): number => levels.findIndex((level) => level.includes(name))
  const points = levels.slice(levelOf(from) + 1, levelOf(to)).map((level, i) => {
    const point = `${from} ${to} ${i}`
    level.push(point)
    return point
  })
  return [from, ...points, to]
}

/** Sorts each level by the mean place of its neighbours, several times: that leaves few crossings. */
function ordered(levels: readonly (readonly string[])[], ways: readonly (readonly string[])[]): string[][] {
  const near = new Map<string, string[]>()
  const link = (one: string, other: string) => near.set(one, [...(near.get(one) ?? []), other])
  for (const way of ways) {
    way.slice(1).forEach((next, i) => {
      link(next, way[i] as string)
      link(way[i] as string, next)
    })
  }
  let rows = levels.map((level) => [...level])
  for (let round = 0; round < ROUNDS; round++) {
    const places = new Map(rows.flatMap((row) => row.map((name, i) => [name, (i + 1) / (row.length + 1)] as const)))
    const mean = (name: string): number => {
      const all = (near.get(name) ?? []).map((other) => places.get(other) ?? 0)
      return all.length === 0 ? 0.5 : all.reduce((sum, place) => sum + place, 0) / all.length
    }
    rows = rows.map((row) => row.toSorted((one, other) => mean(one) - mean(other)))
  }
  return rows
}

const widthOf = (name: string): number => (name.includes(' ') ? 1 : Math.round(name.length * LETTER + 30))

function placed(rows: readonly (readonly string[])[]): Map<string, Box> {
  const boxes = new Map<string, Box>()
  rows.forEach((row, level) => {
    const total = row.reduce((sum, name) => sum + widthOf(name), 0)
    const gap = (WIDTH - total) / (row.length + 1)
    let x = gap
    for (const name of row) {
      boxes.set(name, { x: Math.round(x), y: TOP + level * ROW, width: widthOf(name), height: HEIGHT })
      x += widthOf(name) + gap
    }
  })
  return boxes
}

/** A curve from level to level, straight where it passes one. */
function curveThrough([first, ...rest]: readonly Box[]): string {
  if (first === undefined) return ''
  let path = `M${first.x + first.width / 2} ${first.y + HEIGHT}`
  let from = first
  rest.forEach((to, i) => {
    const [x1, y1] = [from.x + from.width / 2, from.y + HEIGHT]
    const [x2, y2] = [to.x + to.width / 2, to.y - (i === rest.length - 1 ? 1 : 0)]
    const bend = (y2 - y1) / 2
    path += `C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`
    if (i < rest.length - 1) path += `V${to.y + HEIGHT}`
    from = to
  })
  return path
}
