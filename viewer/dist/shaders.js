// The shaders. Bodies keep their vertices in textures: one pass makes positions from what a frame says, a second one makes
// normals from the positions, and the passes that draw look both up by the number of the vertex.
const lists = `
ivec2 place(int k) { return ivec2(k % 1024, k / 1024); }
`;
/** One big triangle that covers everything. */
export const cover = `
void main() { gl_Position = vec4(float(gl_VertexID % 2) * 4.0 - 1.0, float(gl_VertexID / 2) * 4.0 - 1.0, 0.0, 1.0); }
`;
/** x_i = sum over the bones of the vertex: w (t + R (X + S q)). */
export const bonePositions = lists + `
uniform usampler2D ranges;   // of each vertex: first entry, number of entries
uniform sampler2D entries;   // rest in the bone, weight
uniform usampler2D links;    // of each entry: bone, first texel of its basis
uniform isampler2D basis;
uniform sampler2D bones;     // four texels each: rotation, translation, (rank, first q)
uniform sampler2D weights;   // q times the scale of its column
uniform int count;
out vec4 position;
vec3 rotated(vec4 q, vec3 v) { vec3 t = 2.0 * cross(q.xyz, v); return v + q.w * t + cross(q.xyz, t); }
void main() {
  int vertex = int(gl_FragCoord.y) * 1024 + int(gl_FragCoord.x);
  if (vertex >= count) discard;
  uvec2 range = texelFetch(ranges, place(vertex), 0).xy;
  vec3 sum = vec3(0.0);
  for (uint e = range.x; e < range.x + range.y; ++e) {
    vec4 rest = texelFetch(entries, place(int(e)), 0);
    uvec2 link = texelFetch(links, place(int(e)), 0).xy;
    ivec2 bone = ivec2(0, int(link.x));
    vec4 size = texelFetch(bones, bone + ivec2(2, 0), 0);
    vec3 x = rest.xyz;
    for (int k = 0; k < int(size.x); ++k) {
      int texel = int(link.y) + k;
      x += vec3(texelFetch(basis, ivec2(texel % 2048, texel / 2048), 0).xyz) * texelFetch(weights, place(int(size.y) + k), 0).x;
    }
    sum += rest.w * (rotated(texelFetch(bones, bone, 0), x) + texelFetch(bones, bone + ivec2(1, 0), 0).xyz);
  }
  position = vec4(sum, 1.0);
}
`;
/** Positions that came as 16-bit steps in a box. */
export const steppedPositions = lists + `
uniform usampler2D steps;
uniform vec3 low, size;
out vec4 position;
void main() { position = vec4(low + size * vec3(texelFetch(steps, ivec2(gl_FragCoord.xy), 0).xyz) / 65535.0, 1.0); }
`;
/** Normals weighted by area, and the strain of the surface around the vertex: |E| of Green's strain in the plane of the triangles. */
export const normals = lists + `
uniform usampler2D rings, corners; // of each vertex: first corner, number; of each corner: the two other vertices
uniform sampler2D positions, rests;
uniform int count;
out vec4 normal;
void main() {
  int vertex = int(gl_FragCoord.y) * 1024 + int(gl_FragCoord.x);
  if (vertex >= count) discard;
  uvec2 ring = texelFetch(rings, place(vertex), 0).xy;
  vec3 x = texelFetch(positions, place(vertex), 0).xyz, X = texelFetch(rests, place(vertex), 0).xyz;
  vec3 sum = vec3(0.0);
  float strain = 0.0, area = 0.0;
  for (uint k = ring.x; k < ring.x + ring.y; ++k) {
    ivec2 other = ivec2(texelFetch(corners, place(int(k)), 0).xy);
    vec3 a = texelFetch(positions, place(other.x), 0).xyz - x, b = texelFetch(positions, place(other.y), 0).xyz - x;
    vec3 A = texelFetch(rests, place(other.x), 0).xyz - X, B = texelFetch(rests, place(other.y), 0).xyz - X;
    sum += cross(a, b);
    float w = length(cross(A, B)), l = length(A);
    if (w <= 0.0 || l <= 0.0) continue;
    // with axes along A and across it, the rest edges are (l, 0) and (d, h), and F maps them to a and b
    float d = dot(A, B) / l, h = w / l;
    vec3 F1 = a / l, F2 = (b - d * F1) / h;
    float e11 = 0.5 * (dot(F1, F1) - 1.0), e22 = 0.5 * (dot(F2, F2) - 1.0), e12 = 0.5 * dot(F1, F2);
    strain += w * sqrt(e11 * e11 + e22 * e22 + 2.0 * e12 * e12);
    area += w;
  }
  float size = length(sum);
  normal = vec4(size > 0.0 ? sum / size : vec3(0.0), area > 0.0 ? strain / area : 0.0);
}
`;
const bodyVertex = lists + `
uniform sampler2D positions, before, normalsOf, rests;
uniform mat4 frame, frameBefore, camera;
`;
export const shadowVertex = bodyVertex + `
void main() { gl_Position = camera * frame * vec4(texelFetch(positions, place(gl_VertexID), 0).xyz, 1.0); }
`;
export const shadowFragment = `void main() {}`;
export const drawVertex = bodyVertex + `
layout(location = 0) in vec4 ownColor; // the last is 1 where the surface has a sharp edge
layout(location = 1) in float fieldShare;
uniform int colorBy;          // 0 own, 1 displacement, 2 velocity, 3 strain, 4 domain, 5 contact, 6 a field of the body
uniform float perSecond, range, spread, fieldTop;
uniform mat4 light;
out vec3 world, normal, local, color;
out vec4 inLight;
out float value, sharp;
void main() {
  vec3 x = spread * texelFetch(positions, place(gl_VertexID), 0).xyz;
  vec4 n = texelFetch(normalsOf, place(gl_VertexID), 0);
  vec4 X = frame * vec4(x, 1.0);
  world = X.xyz;
  local = x;
  normal = mat3(frame) * n.xyz;
  color = ownColor.rgb;
  sharp = ownColor.a;
  value = 0.0;
  if (colorBy == 1) value = length(x - texelFetch(rests, place(gl_VertexID), 0).xyz) / range;
  if (colorBy == 2) value = length(world - (frameBefore * vec4(texelFetch(before, place(gl_VertexID), 0).xyz, 1.0)).xyz) * perSecond / range;
  if (colorBy == 3) value = n.w / range;
  if (colorBy == 6) value = fieldShare * fieldTop / range;
  inLight = light * X;
  gl_Position = camera * X;
}
`;
const light = `
uniform vec3 eye, toLight, sky, earth;
uniform highp sampler2DShadow shadow;
uniform float shadowTexel, shadowStrength;
/** Share of the sun that comes through, softened over a few texels. */
float sunShare(vec4 inLight, float slope) {
  if (shadowStrength <= 0.0) return 1.0;
  vec3 p = inLight.xyz * 0.5 + 0.5;
  if (any(lessThan(p, vec3(0.0))) || any(greaterThan(p, vec3(1.0)))) return 1.0;
  p.z -= 0.0012 + 0.003 * slope;
  float sum = 0.0;
  float turn = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) * 6.2831853;
  for (int k = 0; k < 12; ++k) {
    float r = sqrt((float(k) + 0.5) / 12.0) * 3.2, a = float(k) * 2.3999632 + turn;
    sum += texture(shadow, vec3(p.xy + r * shadowTexel * vec2(cos(a), sin(a)), p.z));
  }
  return mix(1.0, sum / 12.0, shadowStrength);
}
vec3 toScreen(vec3 c) {
  c = clamp((c * (2.51 * c + 0.03)) / (c * (2.43 * c + 0.59) + 0.14), 0.0, 1.0);
  return pow(c, vec3(1.0 / 2.2));
}
/** Cook-Torrance with GGX for the sun, and a soft sky. */
vec3 shade(vec3 base, vec3 n, vec3 v, float rough, float sun) {
  vec3 l = toLight, h = normalize(l + v);
  float nl = max(dot(n, l), 0.0), nv = max(dot(n, v), 1e-3), nh = max(dot(n, h), 0.0), vh = max(dot(v, h), 0.0);
  float a = rough * rough, a2 = a * a, d = nh * nh * (a2 - 1.0) + 1.0;
  float k = (rough + 1.0) * (rough + 1.0) / 8.0;
  float spread = a2 / (3.14159 * d * d) / (4.0 * (nl * (1.0 - k) + k) * (nv * (1.0 - k) + k));
  float fresnel = 0.04 + 0.96 * pow(1.0 - vh, 5.0);
  vec3 direct = (base / 3.14159 * (1.0 - fresnel) + spread * fresnel) * nl * sun * 3.3;
  vec3 around = mix(earth, sky, 0.5 + 0.5 * n.y);
  float rim = 0.04 + 0.5 * pow(1.0 - nv, 5.0) * (1.0 - rough);
  return direct + base * around * 0.75 + around * rim;
}
`;
export const drawFragment = light + `
in vec3 world, normal, local, color;
in vec4 inLight;
in float value, sharp;
uniform int colorBy, contactCount, cutAxis;
uniform float cutOffset, contactRadius;
uniform vec4 contacts[48];
uniform vec3 domain;
out vec4 fragment;
vec3 ramp(float x) {
  x = clamp(x, 0.0, 1.0) * 4.0;
  vec3 c = mix(vec3(0.188, 0.259, 0.608), vec3(0.184, 0.608, 0.706), clamp(x, 0.0, 1.0));
  c = mix(c, vec3(0.475, 0.784, 0.416), clamp(x - 1.0, 0.0, 1.0));
  c = mix(c, vec3(0.949, 0.827, 0.29), clamp(x - 2.0, 0.0, 1.0));
  return mix(c, vec3(0.878, 0.275, 0.184), clamp(x - 3.0, 0.0, 1.0));
}
void main() {
  if (cutAxis >= 0 && world[cutAxis] > cutOffset) discard;
  vec3 flatNormal = normalize(cross(dFdx(world), dFdy(world)));
  vec3 v = normalize(eye - world);
  vec3 n = normalize(normal);
  if (!gl_FrontFacing) n = -n;
  if (dot(flatNormal, v) < 0.0) flatNormal = -flatNormal;
  if (sharp > 0.0 || !(dot(n, n) > 0.5)) n = flatNormal; // next to a sharp edge, or without a normal
  vec3 base = color;
  if (colorBy == 4) base = domain.x >= 0.0 ? domain : color;
  if ((colorBy >= 1 && colorBy <= 3) || colorBy == 6) base = ramp(value);
  if (colorBy == 5) {
    float near = 0.0;
    for (int k = 0; k < contactCount; ++k) near = max(near, contacts[k].w * exp(-pow(distance(world, contacts[k].xyz) / contactRadius, 2.0)));
    base = ramp(near);
  }
  base = pow(base, vec3(2.2));
  if (!gl_FrontFacing) base *= 0.45;
  float sun = sunShare(inLight, 1.0 - max(dot(n, toLight), 0.0));
  fragment = vec4(toScreen(shade(base, n, v, 0.42, sun)), 1.0);
}
`;
export const groundFragment = light + `
in vec3 world, normal, local, color;
in vec4 inLight;
in float value, sharp;
uniform vec3 ground, backdrop, centre;
uniform float cell, reach;
out vec4 fragment;
float line(vec2 p, float size) {
  vec2 g = p / size, w = fwidth(g);
  vec2 d = abs(fract(g - 0.5) - 0.5) / max(w, vec2(1e-6));
  return (1.0 - min(min(d.x, d.y), 1.0)) * clamp(0.6 / max(w.x, w.y) - 1.0, 0.0, 1.0);
}
void main() {
  vec3 v = normalize(eye - world), n = normalize(normal);
  if (dot(n, v) < 0.0) n = -n;
  float sun = sunShare(inLight, 1.0 - max(dot(n, toLight), 0.0));
  vec3 base = pow(ground, vec3(2.2));
  base *= 1.0 - 0.28 * max(line(local.xz, cell) * 0.6, line(local.xz, 5.0 * cell));
  vec3 c = toScreen(shade(base, n, v, 0.9, sun));
  fragment = vec4(mix(c, backdrop, smoothstep(0.35, 1.0, distance(world, centre) / reach)), 1.0);
}
`;
export const wireVertex = bodyVertex + `
out vec3 world;
void main() {
  vec4 X = frame * vec4(texelFetch(positions, place(gl_VertexID), 0).xyz, 1.0);
  world = X.xyz;
  gl_Position = camera * X;
  gl_Position.z -= 2e-4 * gl_Position.w;
}
`;
export const wireFragment = `
in vec3 world;
uniform vec4 ink;
uniform int cutAxis;
uniform float cutOffset;
out vec4 fragment;
void main() { if (cutAxis >= 0 && world[cutAxis] > cutOffset) discard; fragment = ink; }
`;
/** What a cut laid open: flat faces. */
export const cutVertex = `
layout(location = 0) in vec3 point;
uniform mat4 camera, light;
out vec3 world;
out vec4 inLight;
void main() { world = point; inLight = light * vec4(point, 1.0); gl_Position = camera * vec4(point, 1.0); }
`;
export const cutFragment = light + `
in vec3 world;
in vec4 inLight;
out vec4 fragment;
void main() {
  vec3 v = normalize(eye - world), n = normalize(cross(dFdx(world), dFdy(world)));
  if (dot(n, v) < 0.0) n = -n;
  fragment = vec4(toScreen(shade(vec3(0.78, 0.52, 0.22), n, v, 0.7, sunShare(inLight, 1.0))), 1.0);
}
`;
/** Thick lines: each is a strip across the screen. */
export const lineVertex = `
layout(location = 0) in vec3 from;
layout(location = 1) in vec3 to;
layout(location = 2) in vec4 tint;
uniform mat4 camera;
uniform vec2 pixel; // of the picture, in clip units
uniform float width;
out vec4 color;
void main() {
  vec4 a = camera * vec4(from, 1.0), b = camera * vec4(to, 1.0);
  vec2 along = b.xy / max(b.w, 1e-6) - a.xy / max(a.w, 1e-6);
  vec2 way = along / pixel;
  vec2 across = length(way) > 0.0 ? normalize(vec2(-way.y, way.x)) * pixel : vec2(0.0);
  vec4 p = gl_VertexID < 2 ? a : b;
  p.xy += across * width * (gl_VertexID % 2 == 0 ? 1.0 : -1.0) * p.w;
  gl_Position = p;
  color = tint;
}
`;
export const lineFragment = `
in vec4 color;
out vec4 fragment;
void main() { fragment = color; }
`;
export const pointVertex = `
layout(location = 0) in vec3 point;
layout(location = 2) in vec4 tint;
uniform mat4 camera;
uniform float width;
out vec4 color;
void main() { gl_Position = camera * vec4(point, 1.0); gl_PointSize = width; color = tint; }
`;
export const pointFragment = `
in vec4 color;
out vec4 fragment;
void main() {
  float r = length(gl_PointCoord - 0.5) * 2.0;
  if (r > 1.0) discard;
  fragment = vec4(mix(color.rgb, vec3(0.0), smoothstep(0.7, 0.85, r) * 0.6), color.a);
}
`;
