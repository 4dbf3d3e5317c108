#pragma once
#include "lithe/contact/detect.hpp"
#include "lithe/contact/features.hpp"

namespace lithe {

// What to do where two closed surfaces overlap at the start of a step: the parts of detect_contacts that look at one
// moment.

/// For the vertices of `a` in work.inside (marked in `inside`): adds to work.found the contacts by which they leave
/// `b`, with normals from b to a.
///
/// An edge from inside to a neighbour outside shows where the body came in: the way out is the normal of `b` there,
/// weighted by how near it is and how straight the edge leaves. Vertices deeper inside follow their neighbours.
/// Vertices that hang together and are deep inside all go one way, the one of theirs on which they are out soonest.
void leave_overlap(const FeatureView& a, const FeatureView& b, const std::vector<char>& inside,
                   const DetectOptions& options, DetectWork& work);

/// Of edges of `a` and `b` that pierce the other surface (work.through_a, through_b): adds to work.found the contacts
/// that take them apart, those that agree with a vertex in work.found that leaves; without one, those along the
/// shortest way.
void part_crossing_edges(const FeatureView& a, const FeatureView& b, const DetectOptions& options,
                         DetectWork& work);

/// The contact of two edges at fixed weights, in world positions of the start.
SurfaceContact edge_contact(const FeatureView& a, int edge_a, const FeatureView& b, int edge_b, double s,
                            double t);

/// The side of a contact at a corner, on a side or in a triangle.
ContactSide side_at_vertex(const FeatureView& view, int vertex);
ContactSide side_on_edge(const FeatureView& view, int edge, double s);
ContactSide side_in_triangle(const FeatureView& view, int triangle, const Vec3& weights);

/// Numbers of features that make up keys.
std::uint64_t vertex_key(int vertex, int which);
std::uint64_t edges_key(int edge_a, int edge_b);

} // namespace lithe
