"""pvbatch paraview_pvd.py FILE.pvd FINDINGS.json"""
import json
import sys

from paraview import servermanager, simple

file, output = sys.argv[-2:]
reader = simple.PVDReader(FileName=file)
reader.UpdatePipelineInformation()
times = list(reader.TimestepValues)
reader.UpdatePipeline(times[-1])
data = servermanager.Fetch(reader)

def key(i):
    information = data.GetMetaData(i)
    return information.Get(data.NAME()) if information else None

blocks = [data.GetBlock(i) for i in range(data.GetNumberOfBlocks())]
while any(b.IsA("vtkMultiBlockDataSet") for b in blocks):
    blocks = [c for b in blocks for c in ([b.GetBlock(i) for i in range(b.GetNumberOfBlocks())]
                                          if b.IsA("vtkMultiBlockDataSet") else [b])]
solid = next(b for b in blocks if b.GetPointData().HasArray("velocity"))
points = solid.GetPointData()
found = {
    "version": str(simple.GetParaViewVersion()),
    "times": times,
    "blocks": [key(i) for i in range(data.GetNumberOfBlocks())],
    "tets": solid.GetNumberOfCells(),
    "displacement": points.GetArray("displacement").GetRange(-1)[1],
    "speed": points.GetArray("velocity").GetRange(-1)[1],
    "regions": [int(r) for r in solid.GetCellData().GetArray(0).GetRange()],
}
with open(output, "w") as out:
    json.dump(found, out)
