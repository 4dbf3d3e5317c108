"""blender -b -P blender_glb.py -- FILE.glb FPS FRAMES FINDINGS.json"""
import json
import sys

import bpy
import numpy

if not hasattr(numpy, "bool"):  # the importer of Blender 3.4 wants what numpy 1.24 took away
    numpy.bool = bool

file, fps, frames, output = sys.argv[sys.argv.index("--") + 1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = round(float(fps))
bpy.ops.import_scene.gltf(filepath=file)

objects = [o for o in scene.objects if o.type == "MESH"]
found = {"version": bpy.app.version_string, "objects": [o.name for o in objects], "positions": {},
         "shape_keys": {o.name: len(o.data.shape_keys.key_blocks) - 1 if o.data.shape_keys else 0 for o in objects},
         "smooth": {o.name: all(p.use_smooth for p in o.data.polygons) for o in objects}}
for frame in frames.split(","):
    scene.frame_set(int(frame))
    graph = bpy.context.evaluated_depsgraph_get()
    at = found["positions"][frame] = {}
    for o in objects:
        shown = o.evaluated_get(graph)
        points = [shown.matrix_world @ v.co for v in shown.to_mesh().vertices]
        at[o.name] = [[p.x, p.z, -p.y] for p in points]  # Blender has z up
        shown.to_mesh_clear()
with open(output, "w") as out:
    json.dump(found, out)
